/**
 * Compiles a path pattern. `*` and `?` stay within a name, `**` crosses folders; `{a,b}` and `[abc]` work too. A pattern
 * without a slash matches the name alone, in any folder.
 */
export function createGlob(pattern: string): (path: string) => boolean {
  const isName = !pattern.includes('/');
  const expression = new RegExp(`^${translate(pattern.replace(/^\//, ''))}$`, 'u');
  return (path) => expression.test(isName ? path.slice(path.lastIndexOf('/') + 1) : path);
}

const pieces = /\*\*\/|\*\*|\*|\?|\[[^\]/]+\]|\{[^{}]*\}|[\s\S]/gu;

function translate(pattern: string): string {
  return (pattern.match(pieces) ?? []).map(translatePiece).join('');
}

function translatePiece(piece: string): string {
  if (piece === '**/') return '(?:.*/)?';
  if (piece === '**') return '.*';
  if (piece === '*') return '[^/]*';
  if (piece === '?') return '[^/]';
  if (piece.startsWith('{') && piece.length > 1) return `(?:${piece.slice(1, -1).split(',').map(translate).join('|')})`;
  if (piece.startsWith('[') && piece.length > 1) return translateSet(piece.slice(1, -1));
  return piece.replace(/[\\^$.*+?()[\]{}|/-]/u, '\\$&').replace('\\-', '-');
}

function translateSet(members: string): string {
  const isNegated = members.startsWith('!') || members.startsWith('^');
  const escaped = (isNegated ? members.slice(1) : members).replace(/[\\^[\]]/gu, '\\$&');
  return `[${isNegated ? '^' : ''}${escaped}]`;
}

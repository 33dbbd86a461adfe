const charsRead = 20_000;

/** Max characters of a heading whose markup is removed. The patterns take quadratic time. */
const headingCharsMax = 1_000;

/** Max lines of an HTML heading. */
const htmlHeadingLines = 10;

/** Returns the title in the front matter, or the first heading near the start that has any text. */
export function markdownTitle(markdown: string): string | null {
  const { title, body } = readFrontMatter(markdown.slice(0, charsRead));
  return title ?? firstHeading(body.split(/\r?\n/));
}

/** Returns a heading as plain text. Badges and other images are omitted. */
export function headingText(markdown: string): string {
  if (markdown.length > headingCharsMax) return markdown.trim();
  const text = markdown
    .replace(/!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?/g, '')
    .replace(/\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/<\/?[a-z][^>]*>/gi, ' ')
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  // A heading that consists of markup alone is better than none.
  return text === '' ? markdown.trim() : text;
}

/**
 * Separates the fields with which a page of a static site generator begins, between two `---` lines, and returns their title. The
 * body is the whole text if there are none.
 */
export function readFrontMatter(markdown: string): { title: string | undefined; body: string } {
  const [all = '', fields = ''] =
    /^---[ \t]*\r?\n((?:#.*\r?\n)*[\w-]+:[\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(markdown.slice(0, charsRead)) ?? [];
  const [, title = ''] = /^title:[ \t]*(.+?)[ \t]*$/m.exec(fields) ?? [];
  const [, , quoted] = /^(["'])(.*)\1$/.exec(title) ?? [];
  return { title: (quoted ?? title).trim() || undefined, body: markdown.slice(all.length) };
}

/** Finds a heading outside code fences: with `#`, underlined with `=`, or `<h1>`. */
function firstHeading(lines: readonly string[]): string | null {
  let isInFence = false;
  for (const [index, line] of lines.entries()) {
    if (/^ {0,3}(?:```|~~~)/.test(line)) isInFence = !isInFence;
    if (isInFence) continue;
    const marked = /^ {0,3}#{1,6}[ \t](.*)$/.exec(line)?.[1]?.replace(/[ \t]#+\s*$/, '');
    const isUnderlined = /^={3,}[ \t]*$/.test(lines[index + 1] ?? '');
    const heading = marked ?? (isUnderlined ? line : htmlHeading(lines, index));
    if (heading?.trim()) return headingText(heading);
  }
  return null;
}

function htmlHeading(lines: readonly string[], index: number): string | undefined {
  if (!/<h1[\s>]/i.test(lines[index] ?? '')) return undefined;
  const [, content = ''] =
    /<h1(?:\s[^>]*)?>([\s\S]*?)<\/h1>/i.exec(lines.slice(index, index + htmlHeadingLines).join('\n')) ?? [];
  return content.replace(/<[^>]*>/g, ' ');
}

/** Bytes to search for a declaration, as in the HTML standard ("prescan"). */
const prescanBytes = 1024;

/** Returns the encoding that a `meta` element of HTML or an XML declaration names. */
export function declaredInMarkup(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, prescanBytes)).toString(
    'latin1',
  );
  return metaCharset(start) ?? encodingOf(/^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1]);
}

/** Finds the encoding in a `meta` element, as in the HTML standard ("prescan"). Skips comments and other tags. */
function metaCharset(text: string): string | undefined {
  let at = text.indexOf('<');
  while (at !== -1) {
    if (text.startsWith('<!--', at)) {
      // `<!-->` is a complete comment, so the search for its end starts inside `<!--`.
      const end = text.indexOf('-->', at + 2);
      if (end === -1) return undefined;
      at = end + 2;
    } else if (/^<meta[\s/]/i.test(text.slice(at, at + 6))) {
      const { attributes, end } = readAttributes(text, at + 5);
      const encoding = encodingOfMeta(attributes);
      if (encoding) return encoding;
      at = end;
    } else if (/^<\/?[a-z]/i.test(text.slice(at, at + 3))) {
      at = readAttributes(text, at + (/^<\/?[^\s>]*/.exec(text.slice(at))?.[0].length ?? 1)).end;
    } else {
      const end = /^<[!/?]/.test(text.slice(at, at + 2)) ? text.indexOf('>', at) : at;
      if (end === -1) return undefined;
      at = end;
    }
    at = text.indexOf('<', at + 1);
  }
  return undefined;
}

function encodingOfMeta(attributes: Map<string, string>): string | undefined {
  const isContentType = attributes.get('http-equiv')?.toLowerCase() === 'content-type';
  const fromContent = /charset\s*=\s*["']?([^\s;"']+)/i.exec(attributes.get('content') ?? '')?.[1];
  const encoding = encodingOf(attributes.get('charset') ?? (isContentType ? fromContent : undefined));
  // A declaration readable as ASCII cannot be in UTF-16.
  return encoding?.startsWith('utf-16') ? 'utf-8' : encoding;
}

/** Reads the attributes of a tag. Respects quotes, so that a `>` or `<meta` inside a value is not read as markup. */
function readAttributes(text: string, from: number): { attributes: Map<string, string>; end: number } {
  const attributes = new Map<string, string>();
  const pattern = /[\s/]*(?:(>)|([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*))?)?)/y;
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (match[1]) return { attributes, end: pattern.lastIndex - 1 };
    const name = match[2]?.toLowerCase();
    if (name && !attributes.has(name)) attributes.set(name, match[3] ?? match[4] ?? match[5] ?? '');
  }
  return { attributes, end: text.length };
}

/** Returns the standard name of an encoding. Undefined for an unknown label, such as `utf-7` or `none`. */
export function encodingOf(label: string | undefined): string | undefined {
  if (!label) return undefined;
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch {
    return undefined;
  }
}

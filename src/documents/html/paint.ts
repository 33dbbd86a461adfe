/** Text colour and background of an element, as far as its attributes show them. */
export interface Paint {
  /** Undefined for the page's default colour. */
  readonly color: Color | undefined;
  readonly background: Color | 'unknown';
}

/** Red, green and blue, or the text of a colour that was not parsed. */
type Color = readonly [number, number, number] | string;

export const pagePaint: Paint = { color: undefined, background: [255, 255, 255] };

/** Colours look the same if each channel (0 to 255) differs by less than this. */
const channelDifferenceMin = 16;

interface Attribute {
  readonly name: string;
  readonly value: string;
}

/** Returns the paint of an element inside `outer`. Style sheets are not read: if a class may set a background, it is unknown. */
export function paintOf(tag: string, attributes: readonly Attribute[], outer: Paint): Paint {
  let { color, background } = outer;
  // Browsers give links their own colour.
  if (tag === 'a') color = undefined;
  for (const { name, value } of attributes) {
    if ((name === 'class' || name === 'id') && !neutralTags.has(tag)) background = 'unknown';
    else if (name === 'bgcolor') background = colorOf(value) ?? background;
    else if (name === colorAttribute[tag]) color = colorOf(value) ?? color;
  }
  const style = attributes.find(({ name }) => name === 'style')?.value;
  if (style === undefined)
    return color === outer.color && background === outer.background ? outer : { color, background };
  // The `style` attribute overrides the class, in any order.
  for (const declaration of style.slice(0, 2000).split(';')) {
    const [property = '', value = ''] = declaration.split(/:(.*)/s, 2).map((part) => part.trim().toLowerCase());
    const cleanValue = value.replace(/\s*!\s*important$/, '');
    if (property === 'color') color = colorOf(cleanValue) ?? color;
    else if (property === 'background' || property === 'background-color')
      background = backgroundOf(cleanValue, background);
    else if (property === 'background-image' && cleanValue !== 'none') background = 'unknown';
  }
  return { color, background };
}

/** True if text of this paint is invisible. */
export function isInvisible({ color, background }: Paint): boolean {
  if (color === undefined) return false;
  if (color === 'transparent') return true;
  if (background === 'unknown') return false;
  if (typeof color === 'string' || typeof background === 'string') return color === background;
  return color.every((channel, index) => Math.abs(channel - (background[index] ?? 0)) < channelDifferenceMin);
}

const colorAttribute: Readonly<Record<string, string>> = { font: 'color', body: 'text' };

/** Tags whose classes describe the kind of page, rarely its colours. */
const neutralTags = new Set(['html', 'body', 'main', 'article']);

function backgroundOf(value: string, outer: Paint['background']): Paint['background'] {
  if (/url\(|gradient\(|image\(|var\(/.test(value)) return 'unknown';
  const color = colorOf(value) ?? colorOf(value.split(/\s+(?![^(]*\))/)[0] ?? '');
  return color === undefined || color === 'transparent' ? outer : color;
}

/** Parses a colour. Undefined for relative values, such as `inherit` and variables. */
function colorOf(text: string): Color | undefined {
  const value = text.trim().toLowerCase();
  const hex = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.exec(value)?.[1];
  if (hex !== undefined && (value.startsWith('#') || hex.length === 6)) return parseHex(hex);
  const parts = /^(rgba?|hsla?)\(([^()]{1,100})\)$/.exec(value);
  if (parts !== null) return parseFunction(parts[1] ?? '', parts[2] ?? '', value);
  if (!/^[a-z]{3,30}$/.test(value) || relativeKeywords.has(value)) return undefined;
  return namedColors[value] ?? value;
}

const relativeKeywords = new Set(['inherit', 'initial', 'unset', 'revert', 'currentcolor', 'none', 'auto']);

/** Named colours that are nearly white or black. All others are compared by name. */
const namedColors: Readonly<Record<string, Color>> = {
  white: [255, 255, 255],
  snow: [255, 250, 250],
  ivory: [255, 255, 240],
  ghostwhite: [248, 248, 255],
  floralwhite: [255, 250, 240],
  whitesmoke: [245, 245, 245],
  mintcream: [245, 255, 250],
  azure: [240, 255, 255],
  black: [0, 0, 0],
};

function parseHex(hex: string): Color {
  const long = hex.length < 5 ? [...hex].map((digit) => digit + digit).join('') : hex;
  const channel = (index: number) => Number.parseInt(long.slice(index * 2, index * 2 + 2), 16);
  return long.length === 8 && channel(3) < 13 ? 'transparent' : [channel(0), channel(1), channel(2)];
}

function parseFunction(kind: string, list: string, value: string): Color | undefined {
  const parts = list.split(/[\s,/]+/).filter(Boolean);
  const number = (index: number, max: number) => {
    const part = parts[index] ?? '';
    return part.endsWith('%') ? (Number(part.slice(0, -1)) / 100) * max : Number(part);
  };
  if (parts.length < 3 || parts.some((part) => !/^[\d.]+(?:%|deg)?$/.test(part))) return undefined;
  if (parts.length > 3 && number(3, 1) < 0.05) return 'transparent';
  if (kind.startsWith('rgb')) return [number(0, 255), number(1, 255), number(2, 255)];
  const lightness = number(2, 1);
  if (lightness > 0.97) return [255, 255, 255];
  return lightness < 0.03 ? [0, 0, 0] : value;
}

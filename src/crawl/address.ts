/** Max characters of a URL. Longer ones do not fit a document's `source_path`, and are nearly always generated. */
export const urlCharsMax = 1000;

/** Query parameters that track where a visitor came from. They do not change the page. */
const trackingParameters =
  /^(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|mc_cid|mc_eid|_ga|_gl|_hsenc|_hsmi|mkt_tok|oly_anon_id|oly_enc_id|vero_id|wickedid)$/i;
/** Query parameters with a session id. */
const sessionParameters =
  /^(?:phpsessid|jsessionid|aspsessionid\w*|cfid|cftoken|sid|sessionid|session_id|s_id|zenid)$/i;

/** File extensions of formats without text. Links to them are not followed. */
const mediaExtensions =
  /\.(?:png|jpe?g|gif|webp|avif|ico|bmp|tiff?|svgz?|css|m?js|map|woff2?|ttf|otf|eot|mp[34]|m4[av]|og[agv]|wav|flac|webm|avi|mov|mkv|zip|gz|tgz|bz2|xz|zst|7z|rar|tar|jar|war|whl|deb|rpm|dmg|iso|img|exe|msi|apk|bin|so|dll|class|pyc|asc|sig|sha\d+|md5|torrent)$/i;

/** Normalises a URL: removes the fragment, tracking parameters and session ids. Undefined if it can't be a page. */
export function normaliseUrl(address: string, base?: string): string | undefined {
  const url = URL.parse(address, base);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  url.pathname = url.pathname
    .replace(/;(?:jsessionid|phpsessid|sessionid|sid)=[^/;]*/gi, '')
    // ASP.NET keeps its session in the path: /(S(lit3py55t21z5v55vlm25s55))/page.
    .replace(/\/\((?:[A-Z]\([^()/]*\))+\)(?=\/)/g, '');
  const parameters = url.search.slice(1).split('&').filter(isMeaningful);
  url.search = parameters.join('&');
  return url.href.length <= urlCharsMax ? url.href : undefined;
}

function isMeaningful(parameter: string): boolean {
  const [name = ''] = parameter.split('=', 1);
  return name !== '' && !trackingParameters.test(name) && !sessionParameters.test(name);
}

export function isMedia(url: string): boolean {
  return mediaExtensions.test(new URL(url).pathname);
}

/** Returns the URL of the folder that contains the page. */
export function folderOf(url: string): string {
  return new URL('.', url).href.replace(/[?#].*$/, '');
}

/**
 * Returns the pattern of a URL that looks generated: a number in the query (`?month=2031-07`), several numbers in the path
 * (`/2031/07/`) or a long id. Undefined for all others. One number in the path is not enough: many articles have one.
 */
export function numberedPattern(url: string): string | undefined {
  const { origin, pathname, search } = new URL(url);
  const path = pathname.replace(/\b[0-9a-f]{16,}\b/gi, '*').replace(/\d+/g, '#');
  const query = search.replace(/[0-9a-f]{16,}/gi, '*').replace(/\d+/g, '#');
  const numbers = path.split('/').filter((part) => part.includes('#')).length;
  return numbers > 1 || path.includes('*') || /[#*]/.test(query) ? `${origin}${path}${query}` : undefined;
}

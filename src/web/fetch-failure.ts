import { CarrelError, isCarrelError } from '../base/errors.ts';

/**
 * Converts an error of a socket, resolver or parser to a clear message about the site. The original error is the `cause`. An
 * error without a code is a bug of this program and is returned unchanged.
 */
export function fetchFailure(error: unknown, host: string): unknown {
  if (!(error instanceof Error && 'code' in error) || (isCarrelError(error) && error.code !== 'invalid_url'))
    return error;
  const code = String(error.code);
  if (code === 'HPE_HEADER_OVERFLOW') {
    const problem = `${host} sent too many response headers. Fetch another page.`;
    return new CarrelError('too_large', problem, { cause: error });
  }
  const { name, message } = reasons.find(({ codes }) => codes.test(code)) ?? fallback;
  return new CarrelError('fetch_failed', `${host} ${message}`, { cause: error, data: { host, reason: name } });
}

interface Reason {
  name: string;
  codes: RegExp;
  message: string;
}

const fallback: Reason = {
  name: 'no_answer',
  codes: /^$/,
  message: 'closed the connection before the answer was complete. Try again later.',
};

const reasons: Reason[] = [
  {
    name: 'name_not_found',
    codes: /^(ENOTFOUND|ENODATA|EAI_NONAME|EAI_NODATA)$/,
    message: 'does not exist or has no address. Check the name.',
  },
  {
    name: 'name_lookup_failed',
    codes: /^(EAI_.*|ESERVFAIL|EREFUSED|ETIMEOUT)$/,
    message: 'could not be resolved. Try again later.',
  },
  {
    name: 'connection_refused',
    codes: /^ECONNREFUSED$/,
    message: 'refused the connection. Nothing may be listening on that port.',
  },
  {
    name: 'unreachable',
    codes: /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|EACCES|EPERM|EINVAL)$/,
    message: 'cannot be reached from here. Try again later.',
  },
  {
    name: 'tls_failed',
    codes:
      /^(CERT_.*|UNABLE_TO_.*|SELF_SIGNED_.*|DEPTH_ZERO_.*|HOSTNAME_MISMATCH|INVALID_CA|ERR_TLS_.*|ERR_SSL_.*|EPROTO)$/,
    message: 'could not be reached securely: its certificate or TLS version was rejected. Fetch another page.',
  },
  { name: 'bad_redirect', codes: /^invalid_url$/, message: 'redirects to an invalid URL. Fetch another page.' },
  { name: 'not_http', codes: /^HPE_.*$/, message: 'did not answer with valid HTTP. Check that the URL is a web page.' },
  {
    name: 'bad_encoding',
    codes: /^(Z_.*|ERR_BROTLI.*|ERR__.*)$/,
    message: 'sent a body that is truncated or does not match its Content-Encoding. Try again later.',
  },
];

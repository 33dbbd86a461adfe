import { CarrelError, type ErrorCode, isCarrelError } from '../../base/errors.ts';
import { unlistedHost } from '../../web/fetch-policy.ts';

/** Detects PDF by content type or bytes. Like PDF readers, it accepts other bytes before the header. */
export function isPdf(contentType: string, bytes?: Uint8Array): boolean {
  if (/^\s*application\/(?:x-)?pdf\b/i.test(contentType)) return true;
  if (bytes === undefined) return false;
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 1024)).includes('%PDF-');
}

export function pdfDisabled(): CarrelError {
  return new CarrelError(
    'pdf_disabled',
    "The document is a PDF, and PDF conversion is disabled. Set contentFetch.enablePdf to true in the bridge's configuration to read PDF.",
  );
}

/** Returns plain text in UTF-8 unchanged. Undefined if it needs decoding or conversion. */
export function plainText(contentType: string, bytes: Uint8Array): string | undefined {
  const [type = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = /charset\s*=\s*"?([\w-]+)/.exec(parameters.join(';'))?.[1] ?? 'utf-8';
  if (type.trim() !== 'text/plain' || !['utf-8', 'utf8', 'us-ascii'].includes(charset)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Adds the setting that caused a refusal to its message. */
export function explainRefusal(error: unknown, viaFess: boolean): unknown {
  if (!isCarrelError(error)) return error;
  if (error.code === 'invalid_url' || error.code === 'credentials_in_url') {
    const message = "The document's URL in the index is unusable, so its text cannot be read.";
    return new CarrelError('content_unavailable', message, { cause: error });
  }
  const hint = hints[error.code];
  // Pages of this server and of Fess are refused too, whatever the allowlist says.
  const isOtherRule = error.code === 'host_not_allowed' && !error.message.includes(unlistedHost);
  if (hint === undefined || isOtherRule) return error;
  const viaFessHint = viaFess ? undefined : viaFessHints[error.code];
  // The bridge does not read this setting of the other toolsets.
  const message = error.message.replace(' with FETCH_ALLOW_PRIVATE', '');
  return new CarrelError(error.code, [message, hint, viaFessHint].filter(Boolean).join(' '), {
    cause: error,
    data: error.data,
  });
}

const hints: Partial<Record<ErrorCode, string>> = {
  scheme_not_allowed: 'The setting is contentFetch.allowedSchemes.',
  host_not_allowed: 'The host is not allowed by contentFetch.allowedHostAllowlist.',
  private_network_blocked: 'Private network targets are not allowed (contentFetch.allowPrivateNetworkTargets).',
  too_large: 'The setting is contentFetch.maxBytes.',
  fetch_timeout: 'The setting is contentFetch.timeoutMs.',
};

/** Further hints if `viaFess` is off. */
const viaFessHints: Partial<Record<ErrorCode, string>> = {
  scheme_not_allowed: 'Files on a share need contentFetch.viaFess.',
  private_network_blocked: "With contentFetch.viaFess, the bridge reads Fess's copy instead of a private address.",
};

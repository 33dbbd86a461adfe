import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import type { Address } from './address-rules.ts';

export interface Endpoint {
  /** At least one. All have been checked. */
  addresses: readonly Address[];
  port: number;
  /** Present for TLS: the host that the certificate must be valid for. A name is also sent as SNI, an address is not. */
  tlsHost?: string;
}

/**
 * Opens a new connection to one of exactly these addresses. Uses no agent or pool, so that a connection for one name never
 * serves another. Uses no proxy from the environment, because a proxy would resolve names itself.
 */
export async function connect({ addresses, port, tlsHost }: Endpoint, signal: AbortSignal): Promise<Socket> {
  const candidates = alternateFamilies(addresses).slice(0, attemptsMax);
  let failure: unknown;
  for (const [index, address] of candidates.entries()) {
    const isLast = index === candidates.length - 1;
    try {
      const socket = await dial(address, port, isLast ? undefined : attemptTimeoutMs, signal);
      return tlsHost === undefined ? socket : await secure(socket, tlsHost, signal);
    } catch (error) {
      if (signal.aborted || !isDialError(error)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** Max addresses to try, so that a name with many addresses does not cause many connections. */
const attemptsMax = 4;
/** Timeout for connecting to an address, if there is another one to try. */
const attemptTimeoutMs = 2500;

/** Alternates IPv4 and IPv6, so that a machine with only one of them connects soon. Otherwise keeps the resolver's order. */
function alternateFamilies(addresses: readonly Address[]): Address[] {
  const first = addresses.filter((address) => address.kind() === addresses[0]?.kind());
  const second = addresses.filter((address) => address.kind() !== addresses[0]?.kind());
  return first
    .flatMap((address, index) => [address, second[index]].filter((one) => one !== undefined))
    .concat(second.slice(first.length));
}

async function dial(
  address: Address,
  port: number,
  timeoutMs: number | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = connectTcp({ host: address.toString(), port, autoSelectFamily: false });
  // Without a listener, an error between connecting and the request would end the process.
  socket.on('error', () => {});
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => socket.destroy(dialTimeout()), timeoutMs);
  try {
    await once(socket, 'connect', { signal });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function secure(socket: Socket, host: string, signal: AbortSignal): Promise<Socket> {
  // `rejectUnauthorized` is explicit: NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise disable verification.
  secureContext ??= createSecureContext();
  const tls = connectTls({
    socket,
    host,
    secureContext,
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
  tls.on('error', () => {});
  try {
    await once(tls, 'secureConnect', { signal });
    return tls;
  } catch (error) {
    tls.destroy();
    socket.destroy();
    throw error;
  }
}

/** Trusted root certificates. Parsed only once, because that takes longer than a handshake. */
let secureContext: SecureContext | undefined;

function isDialError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}

function dialTimeout(): Error {
  return Object.assign(new Error('no answer to the connection attempt'), { code: 'ETIMEDOUT', syscall: 'connect' });
}

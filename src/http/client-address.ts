import ipaddr from 'ipaddr.js';

export const loopbackAddress = '127.0.0.1';

/**
 * The identity of a request without a token. An IPv4 client on a dual-stack socket appears as ::ffff:a.b.c.d and is the same
 * client; an IPv6 client owns a whole /64.
 */
export function clientAddress(remoteAddress: string | undefined): string {
  const text = (remoteAddress ?? '').replace(/%.*$/, '');
  if (!ipaddr.isValid(text)) return text;
  const address = ipaddr.process(text);
  // Both loopback addresses are this machine.
  if (address.range() === 'loopback') return loopbackAddress;
  if (address.kind() === 'ipv4') return address.toString();
  const network = new ipaddr.IPv6([...address.toByteArray().slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0]);
  return `${network.toString()}/64`;
}

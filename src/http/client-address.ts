import ipaddr from 'ipaddr.js';

/** Every client on this machine. */
export const loopbackAddress = '127.0.0.1';

/**
 * Who a request without a token counts as. An IPv4 client on a dual-stack socket shows up as ::ffff:a.b.c.d and is the
 * same client; an IPv6 client has a whole /64 to itself and is one client, whichever of its addresses it uses.
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

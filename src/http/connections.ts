import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientAddress, loopbackAddress } from './client-address.ts';

export interface ConnectionLimits {
  readonly connectionsMax: number;
  /** Max connections per address. Does not apply to loopback, which all clients on this machine share. */
  readonly perAddressMax: number;
}

/**
 * Limits connections in total and per address. To make room, closes the longest idle connection of the address with the most
 * connections, so that a client that opens thousands loses only its own.
 */
export function limitConnections(
  server: Server,
  { connectionsMax, perAddressMax }: ConnectionLimits,
  onRefused: () => void = () => {},
) {
  const open = new Map<string, Set<Socket>>();
  // Sockets in the order in which they became idle. A new connection is idle until its first request.
  const idle = new Map<string, Set<Socket>>();
  let count = 0;

  const addTo = (map: Map<string, Set<Socket>>, address: string, socket: Socket): void => {
    const sockets = map.get(address);
    if (sockets) sockets.add(socket);
    else map.set(address, new Set([socket]));
  };
  const removeFrom = (map: Map<string, Set<Socket>>, address: string, socket: Socket): boolean => {
    const sockets = map.get(address);
    if (!sockets?.delete(socket)) return false;
    if (sockets.size === 0) map.delete(address);
    return true;
  };
  const forget = (address: string, socket: Socket): void => {
    removeFrom(idle, address, socket);
    if (removeFrom(open, address, socket)) count -= 1;
  };

  /** Closes the longest idle connection of an address. Returns false if all are in use. */
  const closeIdle = (address: string): boolean => {
    const [oldest] = idle.get(address) ?? [];
    if (oldest === undefined) return false;
    forget(address, oldest);
    oldest.destroy();
    return true;
  };

  /** Closes an idle connection, if possible of the address that has the most connections. */
  const makeRoom = (): boolean =>
    [...open].toSorted(([, a], [, b]) => b.size - a.size).some(([address]) => closeIdle(address));

  server.on('connection', (socket: Socket) => {
    const address = clientAddress(socket.remoteAddress);
    const addressMax = address === loopbackAddress ? connectionsMax : perAddressMax;
    const ownCount = open.get(address)?.size ?? 0;
    if ((ownCount >= addressMax && !closeIdle(address)) || (count >= connectionsMax && !makeRoom())) {
      socket.destroy();
      onRefused();
      return;
    }
    count += 1;
    addTo(open, address, socket);
    addTo(idle, address, socket);
    socket.once('close', () => forget(address, socket));
  });

  return {
    count: () => count,
    /** Marks a socket as busy with a request, so that it is not closed to make room. Returns the function that ends this. */
    markBusy(socket: Socket): () => void {
      const address = clientAddress(socket.remoteAddress);
      removeFrom(idle, address, socket);
      return () => {
        if (open.get(address)?.has(socket)) addTo(idle, address, socket);
      };
    },
  };
}

import type { Socket } from "node:net";
import type { ClientAddresses } from "./client-address.ts";

interface Held {
  connections: number;
  /** Time on the monotonic clock. */
  toldAt: number;
}

const tellAgainAfter = 60_000;

/**
 * Caps the connections of each client address. Behind a trusted proxy no client
 * is counted.
 */
export class ConnectionCaps {
  readonly #most: number;
  readonly #addresses: ClientAddresses;
  readonly #onRefused: (client: string, first: boolean) => void;
  readonly #held = new Map<string, Held>();

  /** 0 is no cap. `onRefused` hears of every connection; `first` is true at most once a minute for one client. */
  constructor(
    most: number,
    addresses: ClientAddresses,
    onRefused: (client: string, first: boolean) => void,
  ) {
    this.#most = most;
    this.#addresses = addresses;
    this.#onRefused = onRefused;
  }

  /** False for one too many, which is not counted. */
  admit(socket: Socket): boolean {
    const { address, counted } = this.#addresses.connected(socket);
    if (this.#most === 0 || counted === undefined) return true;
    const held = this.#held.get(counted) ?? { connections: 0, toldAt: NaN };
    if (held.connections >= this.#most) {
      this.#refuse(held, address);
      return false;
    }
    held.connections++;
    this.#held.set(counted, held);
    socket.once("close", () => {
      held.connections--;
      if (held.connections === 0) this.#held.delete(counted);
    });
    return true;
  }

  #refuse(held: Held, address: string): void {
    const now = performance.now();
    const first = !(now - held.toldAt < tellAgainAfter);
    if (first) held.toldAt = now;
    this.#onRefused(address, first);
  }
}

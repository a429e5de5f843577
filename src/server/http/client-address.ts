import type { IncomingMessage } from "node:http";
import { isIP, type Socket } from "node:net";
import ipaddr from "ipaddr.js";

/** Client of a request, as far as addresses identify it. */
export interface Client {
  /** Address for the log. */
  readonly address: string;
  readonly isTrustedProxy: boolean;
}

type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

const unknown: Client = { address: "gone", isTrustedProxy: false };

/** Tells clients apart. `X-Forwarded-For` is read only when the connection is from a trusted proxy. */
export class ClientAddresses {
  readonly #trusted: readonly Network[];
  readonly #connected = new WeakMap<Socket, Client>();

  /** Addresses and networks such as `10.0.0.0/8`. */
  constructor(trustedProxies: readonly string[]) {
    this.#trusted = trustedProxies.map(parseNetwork);
  }

  /** Returns the client of a connection, which may be a trusted proxy. */
  connected(socket: Socket): Client {
    const known = this.#connected.get(socket);
    if (known !== undefined) return known;
    // A connection that is gone does not know it.
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return unknown;
    const client = this.#describe(remoteAddress) ?? unknown;
    this.#connected.set(socket, client);
    return client;
  }

  /**
   * Returns the client of a request: the last address that is not a trusted
   * proxy's.
   */
  of({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): Client {
    const client = this.connected(socket);
    if (!client.isTrustedProxy) return client;
    return this.#forwarded(headers["x-forwarded-for"]) ?? client;
  }

  #forwarded(header: string | string[] | undefined): Client | undefined {
    const hops = String(header ?? "").split(",");
    for (const hop of hops.toReversed()) {
      const client = this.#describe(hop.trim());
      // Addresses before an unreadable hop cannot be trusted.
      if (client?.isTrustedProxy !== true) return client;
    }
    return undefined;
  }

  /** Undefined for what is no address. */
  #describe(text: string): Client | undefined {
    // The zone of a link-local address (RFC 4007, 11) is a name of this or another machine's own.
    const [bare = ""] = text.split("%", 1);
    // Each of the two takes some texts for addresses that the other does not.
    if (isIP(bare) === 0 || !ipaddr.isValid(bare)) return undefined;
    const address = ipaddr.process(bare);
    return {
      address: address.toString(),
      isTrustedProxy: this.#trusted.some((network) => isIn(address, network)),
    };
  }
}

function parseNetwork(text: string): Network {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

function isIn(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  [network, bits]: Network,
): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

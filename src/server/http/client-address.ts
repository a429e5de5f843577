import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv6, type Socket } from "node:net";
import ipaddr from "ipaddr.js";

/** Client of a request, as far as addresses identify it. */
interface Client {
  readonly address: string;
  readonly isTrustedProxy: boolean;
}

const unknown: Client = { address: "gone", isTrustedProxy: false };

/** Tells clients apart. `X-Forwarded-For` is read only when the connection is from a trusted proxy. */
export class ClientAddresses {
  readonly #trusted = new BlockList();

  /** Addresses and networks such as `10.0.0.0/8`. */
  constructor(trustedProxies: readonly string[]) {
    for (const text of trustedProxies) {
      const [address = "", bits] = text.split("/");
      const [family, all] = isIPv6(address)
        ? (["ipv6", 128] as const)
        : (["ipv4", 32] as const);
      this.#trusted.addSubnet(address, Number(bits ?? all), family);
    }
  }

  /** Returns the client of a connection, which may be a trusted proxy; one that is gone does not know its address. */
  connected({ remoteAddress = "" }: Socket): Client {
    return this.#describe(remoteAddress) ?? unknown;
  }

  /** Returns the client of a request: the last address that is not a trusted proxy's. */
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
      isTrustedProxy: this.#trusted.check(address.toString(), address.kind()),
    };
  }
}

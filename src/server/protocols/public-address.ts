import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import type { ClientAddresses } from "../http/client-address.ts";

/** Subject of a request or document, with the names in its path. */
export interface Subject {
  /** HOSTNAME/NAMESPACE/TYPE. */
  readonly provider?: string | undefined;
  /** HOSTNAME/NAMESPACE/NAME/SYSTEM. */
  readonly module?: string | undefined;
  readonly version?: string | undefined;
}

const host = /^(?:[a-z\d.-]+|\[[a-f\d:.]+\])(?::\d+)?$/i;
const names = /^[\w.:+-]+(?:\/[\w.:+-]+){2,4}$/;

export class PublicAddress {
  readonly configured: string | undefined;
  readonly #clients: ClientAddresses;

  constructor(configured: URL | undefined, clients: ClientAddresses) {
    this.configured = configured?.href;
    this.#clients = clients;
  }

  /** Returns the URL of the explanation; undefined where the mirror's URL is unknown, or no page exists. */
  whyUrl(
    request: IncomingMessage,
    { provider, module, version }: Subject,
  ): string | undefined {
    const name = provider ?? module ?? "";
    const path = version === undefined ? name : `${name}/${version}`;
    const base = this.baseOf(request);
    return base === undefined || !names.test(path)
      ? undefined
      : `${base}why/${path}`;
  }

  /** The `url` of a `network_mirror` block; its host is left open where it is not known. */
  mirrorUrl(request: IncomingMessage): string {
    return `${this.baseOf(request) ?? "https://HOST/"}providers/`;
  }

  /**
   * Returns the root of this mirror for a document at `path`. It is absolute
   * where that URL is known: configured, or in the request of a client without
   * proxy. Behind a proxy path and host may differ, so the URL is relative
   * there.
   */
  rootFor(request: IncomingMessage, path: string): string {
    const direct = isDirect(request) ? this.baseOf(request) : undefined;
    const depth = path.split("/").length - 2;
    return this.configured ?? direct ?? "../".repeat(depth);
  }

  /** Returns the configured URL, else the one in the client's request. A trusted proxy adds TLS. */
  baseOf({ socket, headers }: IncomingMessage): string | undefined {
    if (this.configured !== undefined) return this.configured;
    if (headers.host === undefined || !host.test(headers.host))
      return undefined;
    const isSecure =
      socket instanceof TLSSocket ||
      this.#clients.connected(socket).isTrustedProxy;
    return `${isSecure ? "https" : "http"}://${headers.host}/`;
  }
}

const forwarding = /^(?:via|forwarded|x-forwarded-.+|x-real-ip)$/;

/** Over TLS, and with no header of a proxy. */
function isDirect({ socket, headers }: IncomingMessage): boolean {
  const names = Object.keys(headers);
  return (
    socket instanceof TLSSocket && !names.some((name) => forwarding.test(name))
  );
}

import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, get } from "node:https";
import { text } from "node:stream/consumers";
import { isIP } from "node:net";
import { connect, TLSSocket } from "node:tls";

/** How clients reach a mirror. */
export interface MirrorAccess {
  /** The base of its network mirror protocol. */
  readonly base: URL;
  /** PEM certificates that are trusted. */
  readonly ca: readonly string[];
  readonly token: string | undefined;
  /** As HTTPS_PROXY and NO_PROXY have it. */
  readonly proxy: {
    readonly https: URL | undefined;
    readonly no: string | undefined;
  };
}

/** An answer of any status. */
export interface MirrorAnswer {
  /** Of an error of this program's. */
  readonly code: string | undefined;
  /** What stands there, when it is JSON. */
  readonly document: unknown;
  /** What the status is called. */
  readonly phrase: string;
  readonly date: string | undefined;
  readonly at: Date;
  readonly certificateExpires: Date | undefined;
}

/** Throws what the connection fails with. */
export async function askMirror(
  { base, ca, token, proxy }: MirrorAccess,
  path: string,
  signal: AbortSignal,
): Promise<MirrorAnswer> {
  const agent = new Agent({
    ca: [...ca],
    proxyEnv: { HTTPS_PROXY: proxy.https?.href, NO_PROXY: proxy.no },
  });
  const headers = {
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const request = get(new URL(path, base), { agent, headers, signal });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const at = new Date();
  const certificateExpires = findExpiry(response);
  const document = parse(await text(response));
  agent.destroy();
  return {
    code: codeOf(document),
    document,
    phrase: response.statusMessage ?? "",
    date: response.headers.date,
    at,
    certificateExpires,
  };
}

/** True when clients that can speak HTTP/2 do so with what answers there; false where that cannot be seen. */
export async function speaksHttp2(
  { base, ca }: MirrorAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const host = base.hostname.replace(/^\[|\]$/g, "");
  const socket = connect({
    host,
    port: Number(base.port) || 443,
    ca: [...ca],
    ALPNProtocols: ["h2", "http/1.1"],
    ...(isIP(host) === 0 && { servername: host }),
  });
  try {
    await once(socket, "secureConnect", { signal });
    return socket.alpnProtocol === "h2";
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function findExpiry({ socket }: IncomingMessage): Date | undefined {
  return socket instanceof TLSSocket
    ? new Date(socket.getPeerCertificate().valid_to)
    : undefined;
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function codeOf(document: unknown): string | undefined {
  const { code } = (document ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : undefined;
}

import { once } from "node:events";
import { get as getPlain, type IncomingMessage } from "node:http";
import { Agent, get } from "node:https";
import { isIP } from "node:net";
import { connect, TLSSocket } from "node:tls";
import { z } from "zod";

/** Access of clients to a mirror. */
export interface MirrorAccess {
  /** The base of its network mirror protocol. */
  readonly base: URL;
  /** PEM certificates that are trusted. */
  readonly ca: readonly string[];
  readonly token: string | undefined;
  /** Proxy as in HTTPS_PROXY and NO_PROXY. */
  readonly proxy: {
    readonly https: URL | undefined;
    readonly no: string | undefined;
  };
}

/** An answer of any status. */
export interface MirrorAnswer {
  /** Code of an error of this program. */
  readonly code: string | undefined;
  /** The sentences of such an error. */
  readonly errors: readonly string[];
  readonly body: string;
  /** Body when it is JSON. */
  readonly document: unknown;
  /** Reason phrase of the status. */
  readonly phrase: string;
  readonly certificateExpires: Date | undefined;
}

const error = z.object({ code: z.string(), errors: z.array(z.string()) });

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
  const url = new URL(path, base);
  const request =
    url.protocol === "http:"
      ? getPlain(url, { headers, signal })
      : get(url, { agent, headers, signal });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const certificateExpires = findExpiry(response);
  const body = await readBody(response, signal);
  const document = parse(body);
  agent.destroy();
  return {
    ...readError(document),
    body,
    document,
    phrase: response.statusMessage ?? "",
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

/** Bytes that a mirror's answers, of which its metrics are the longest, stay below. */
const mostBytes = 16 * 1024 * 1024;

async function readBody(
  response: IncomingMessage,
  signal: AbortSignal,
): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > mostBytes) throw coded("ERR_ANSWER_ENDLESS");
      pieces.push(piece);
    }
  } catch (error) {
    // Node reports a deadline as a reset connection.
    throw signal.aborted ? coded("ABORT_ERR") : error;
  }
  return Buffer.concat(pieces).toString("utf8");
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code });
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** The body of this program's errors (docs/http.md). */
function readError(document: unknown): Pick<MirrorAnswer, "code" | "errors"> {
  const parsed = error.safeParse(document);
  return parsed.success ? parsed.data : { code: undefined, errors: [] };
}

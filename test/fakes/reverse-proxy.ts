import { once } from "node:events";
import { createSecureServer } from "node:http2";
import type {
  IncomingMessage,
  RequestListener,
  ServerResponse,
} from "node:http";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import type { IssuedCertificate } from "./authority.ts";

/** Proxy in front of a mirror, with a certificate of its own. */
export interface ReverseProxy {
  readonly port: number;
  stop(): Promise<void>;
}

export interface ReverseProxyOptions {
  /** Offers HTTP/2 to clients, which knows no reason phrases. */
  readonly http2?: boolean;
  /** Writes its own phrase for each status. */
  readonly dropsPhrases?: boolean;
  /** Instead of those of the mirror. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Headers that speak of one connection, and are none in HTTP/2. */
const ofConnection = new Set(["connection", "keep-alive", "transfer-encoding"]);

/** Passes every GET on to `target`, whose CA is `ca`. */
export async function startReverseProxy(
  { certificate: cert, key }: IssuedCertificate,
  target: { readonly url: string; readonly ca: string },
  {
    http2 = false,
    dropsPhrases = false,
    headers = {},
  }: ReverseProxyOptions = {},
): Promise<ReverseProxy> {
  const agent = new Agent({ ca: target.ca });
  const answer: RequestListener = (asked, response) => {
    const { authorization } = asked.headers;
    const sent = request(new URL(asked.url ?? "/", target.url), {
      agent,
      headers: authorization === undefined ? {} : { authorization },
    });
    sent.end();
    void once(sent, "response").then(([answer]: IncomingMessage[]) => {
      if (answer === undefined) return;
      const { statusCode = 0, statusMessage } = answer;
      const phrase = http2 || dropsPhrases ? undefined : statusMessage;
      if (phrase !== undefined) response.statusMessage = phrase;
      const passed = { ...answer.headers, ...headers };
      for (const [name, value] of Object.entries(passed))
        if (value !== undefined && !ofConnection.has(name))
          response.setHeader(name, value);
      response.writeHead(statusCode);
      answer.pipe(response);
    });
  };
  const server = http2
    ? createSecureServer({ cert, key, allowHTTP1: true }, (asked, response) =>
        // Each is enough like its like in HTTP/1.1.
        answer(
          asked as unknown as IncomingMessage,
          response as unknown as ServerResponse & { req: IncomingMessage },
        ),
      )
    : createServer({ cert, key }, answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      agent.destroy();
      await closed;
    },
  };
}

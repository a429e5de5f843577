import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { request, type Agent } from "node:https";

/** An answer as it arrived, which may not be all of it. */
export interface Fetched {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** `false`: the connection ended before the announced end of the body. */
  readonly whole: boolean;
}

export interface FetchOptions {
  readonly ca: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Without one, each request has a connection of its own. */
  readonly agent?: Agent;
}

/** One request over HTTPS, nothing followed or retried; rejects where no answer began. */
export async function fetchOnce(
  url: string,
  options: FetchOptions,
): Promise<Fetched> {
  const opened = await openOnce(url, options);
  return { ...headOf(opened), ...(await collect(opened)) };
}

/** The same, with the body still to be read. */
export async function openOnce(
  url: string,
  options: FetchOptions,
): Promise<IncomingMessage> {
  const sent = request(url, { agent: false, ...options });
  // The response reports a connection that breaks after the head.
  sent.on("error", () => undefined);
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
}

function headOf(response: IncomingMessage) {
  return { status: response.statusCode ?? 0, headers: response.headers };
}

/** The body, as far as it came. */
export async function collect(response: IncomingMessage) {
  const pieces: Buffer[] = [];
  response.on("data", (piece: Buffer) => pieces.push(piece));
  const whole = await new Promise<boolean>((resolve) => {
    response.once("error", () => resolve(false));
    response.once("close", () => resolve(response.complete));
  });
  return { body: Buffer.concat(pieces), whole };
}

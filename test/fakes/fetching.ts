import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request, type RequestOptions } from "node:https";

/**
 * One request over HTTPS with its body still to be read, nothing followed or retried; rejects where no answer began.
 * Without an agent, each has a connection of its own.
 */
export async function openOnce(
  url: string,
  options: RequestOptions,
): Promise<IncomingMessage> {
  const sent = request(url, { agent: false, ...options });
  // The response reports a connection that breaks after the head.
  sent.on("error", () => undefined);
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return response;
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

import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { failure, type ProvenderError } from "../../errors/index.ts";
import { formatErrorBody } from "./error-response.ts";

/** Answers in the order of requests. */
export function after(
  before: ServerResponse | undefined,
  answer: () => void,
): void {
  if (before === undefined) answer();
  else before.once("close", answer);
}

/** Others, such as those of TLS, are of a connection that can carry no answer. */
export function isOfParser({ code = "" }: NodeJS.ErrnoException): boolean {
  return /^(?:HPE|ERR_HTTP)_/.test(code);
}

/** Answers in the form of docs/http.md. */
export function answerUnread(
  error: NodeJS.ErrnoException,
  socket: Duplex,
): void {
  const status = clientErrorStatuses.get(error.code ?? "") ?? "400 Bad Request";
  refuse(
    socket,
    status,
    failure("malformed-request", "could not be read", "HTTP/1.1"),
  );
}

/** Ends a request whose handler threw before it answered. */
export function endUnanswered(res: ServerResponse, socket: Duplex): void {
  if (res.headersSent || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = failure(
    "malformed-request",
    "could not be handled",
    "one that follows HTTP/1.1",
  );
  const body = formatErrorBody(problem, crypto.randomUUID());
  res.writeHead(400, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  });
  res.end(body);
}

export function refuseTunnel(socket: Duplex): void {
  const status = "405 Method Not Allowed\r\nAllow: GET, HEAD";
  refuse(socket, status, failure("method-not-allowed", "CONNECT"));
}

/** `status` may be followed by header lines. */
function refuse(socket: Duplex, status: string, problem: ProvenderError): void {
  // The answer before was announced as the last: its connection ends by itself.
  if (socket.writableEnded) return;
  const body = formatErrorBody(problem, crypto.randomUUID());
  // Node no longer listens on the connection of a tunnel.
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    // A client that does not close its own side is not waited for.
    () => socket.destroy(),
  );
}

const clientErrorStatuses: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

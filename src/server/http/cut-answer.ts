import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

/**
 * Ends a connection in the middle of an answer. HTTP/1.0 knows no chunks: a body
 * without a length ends with its connection (RFC 9112, 6.3), so that without TLS
 * only a reset tells its client that it was cut.
 */
export function cut(answer: ServerResponse): void {
  const { socket, req } = answer;
  if (req.httpVersion === "1.0" && !(socket instanceof TLSSocket))
    socket?.resetAndDestroy();
  answer.destroy();
}

import type { IncomingMessage } from "node:http";
import { parseSignedPath } from "../access/archive-ticket.ts";
import type { Client } from "../http/client-address.ts";
import { pathOf } from "../http/raw-request.ts";
import type { RequestState } from "../http/request-context.ts";

/** Gives the request its id; nothing of it has been checked yet. */
export function beginRequest(
  { url = "" }: Pick<IncomingMessage, "url">,
  client: Client,
): RequestState {
  const path = pathOf(url);
  return {
    client,
    asker: { requestId: crypto.randomUUID(), client: client.address },
    path: parseSignedPath(path)?.path ?? path,
    note: { outcome: "none", originTime: 0 },
  };
}

import type { IncomingHttpHeaders } from "node:http";
import { reply, type Reply } from "./reply.ts";

export interface ServedFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** A strong validator with its quotes. */
  readonly etag: string;
}

/** The whole file, or the range that was asked for (RFC 9110, 14.2 and 13.1.5). */
export function fileReply(
  file: ServedFile,
  headers: IncomingHttpHeaders,
  features: { readonly ranges: boolean; readonly etags: boolean },
): Reply {
  const validators: Record<string, string> = features.etags
    ? { ETag: file.etag }
    : {};
  if (!features.ranges)
    return reply(200, file.contentType, file.bytes, validators);
  const known = { ...validators, "Accept-Ranges": "bytes" };
  const ifRange = headers["if-range"];
  const current =
    ifRange === undefined || (features.etags && ifRange === file.etag);
  const range = current
    ? parseRange(headers.range, file.bytes.length)
    : "whole";
  if (range === "whole") return reply(200, file.contentType, file.bytes, known);
  return partial(file, range, known);
}

type Range = readonly [first: number, last: number];

function partial(
  file: ServedFile,
  range: Range | "unsatisfiable",
  headers: Readonly<Record<string, string>>,
): Reply {
  const size = file.bytes.length;
  if (range === "unsatisfiable")
    return reply(416, "text/plain", "", { "Content-Range": `bytes */${size}` });
  const [first, last] = range;
  return reply(206, file.contentType, file.bytes.subarray(first, last + 1), {
    ...headers,
    "Content-Range": `bytes ${first}-${last}/${size}`,
  });
}

/** One range only; what is not understood asks for the whole file. */
function parseRange(
  header: string | undefined,
  size: number,
): Range | "whole" | "unsatisfiable" {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  const [, from = "", to = ""] = match ?? [];
  if (from === "" && to === "") return "whole";
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Number(to);
  if (first >= size || first > last) return "unsatisfiable";
  return [first, Math.min(last, size - 1)];
}

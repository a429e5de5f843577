import { hash } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { endWithFile } from "../file-end.ts";
import { scratch } from "../running-mirror.ts";

/** An object store that takes every key for good. */
export async function startLooseBucket() {
  const objects = new Map<string, Buffer>();
  const bucket: {
    readonly objects: typeof objects;
    /** Called with `METHOD KEY` of each request, which goes on when it resolves; a status is the answer then. */
    intercept: (asked: string) => Promise<number | void> | number | void;
  } = { objects, intercept: () => undefined };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url = "" } = request;
    const { pathname } = new URL(url, "http://s3/");
    const key = decodeURIComponent(pathname.replace(/^\/loose\/?/, ""));
    const sent = await buffer(request);
    // The key without a part's prefix.
    const asked = `${method} ${key.replace(/^[0-9a-f-]{36}\//, "")}`;
    const instead = await bucket.intercept(asked);
    const found = objects.get(key);
    if (typeof instead === "number") response.writeHead(instead).end();
    else if (method === "PUT") {
      objects.set(key, sent);
      response.writeHead(200, { etag: etagOf(sent) }).end();
    } else if (method === "DELETE") {
      objects.delete(key);
      response.writeHead(204).end();
    } else if (found === undefined) {
      response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>");
    } else {
      response.writeHead(200, {
        etag: etagOf(found),
        "content-length": found.length,
        "last-modified": new Date().toUTCString(),
      });
      response.end(method === "HEAD" ? undefined : found);
    }
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  endWithFile(stop);
  const { port } = server.address() as AddressInfo;
  const file = join(scratch("bucket"), "secret");
  writeFileSync(file, "any", { mode: 0o600 });
  /** `storage.s3` of a configuration. */
  const settings = {
    endpoint: `http://127.0.0.1:${port}/`,
    bucket: "loose",
    accessKeyId: "any",
    secretAccessKey: { file },
  };
  return Object.assign(bucket, { settings, stop });
}

function etagOf(bytes: Buffer): string {
  return `"${hash("md5", bytes)}"`;
}

import { hash } from "node:crypto";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";
import { deflateSync, gunzipSync } from "node:zlib";
import type { GitBackend } from "./registry.ts";

/** An object of a pack, or a change of the object before it. */
export interface PackObject {
  readonly type: "commit" | "tree" | "blob" | "change";
  readonly body: Buffer;
  /** Size in its header, in place of the true one. */
  readonly size?: number;
}

const types = { commit: 1, tree: 2, blob: 3, change: 6 } as const;

function gitId({ type, body }: PackObject): string {
  const head = Buffer.from(`${type} ${body.length}\0`);
  return hash("sha1", Buffer.concat([head, body]));
}

export function blobOf(text: string | Buffer): PackObject {
  return { type: "blob", body: Buffer.from(text) };
}

/** Makes `times` copies of a beginning of `size` bytes out of `from` bytes (gitformat-pack, "Deltified representation"). */
export function copies(from: number, size: number, times: number): PackObject {
  const copy = Buffer.from([0xf0, size & 255, (size >> 8) & 255, size >> 16]);
  const body = [lengthOf(from), lengthOf(size * times)];
  for (let done = 0; done < times; done++) body.push(copy);
  return { type: "change", body: Buffer.concat(body) };
}

/** A pack as servers send it (gitformat-pack). */
function packOf(objects: readonly PackObject[]): Buffer {
  const head = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  head.writeUInt32BE(objects.length, 8);
  const parts = [head];
  let before = 0;
  for (const { type, body, size = body.length } of objects) {
    const header = headerOf(types[type], size);
    const base = type === "change" ? [distanceOf(before)] : [];
    const entry = Buffer.concat([header, ...base, deflateSync(body)]);
    before = entry.length;
    parts.push(entry);
  }
  const pack = Buffer.concat(parts);
  return Buffer.concat([pack, hash("sha1", pack, "buffer")]);
}

/** A server of a repository of one file, whose pack, which it sends to everybody, has these objects, too. */
export function sends(
  others: readonly PackObject[] = [],
  content: string | Buffer = "# module",
): GitBackend {
  const file = blobOf(content);
  const named = Buffer.from("100644 main.tf\0");
  const body = Buffer.concat([named, Buffer.from(gitId(file), "hex")]);
  const tree: PackObject = { type: "tree", body };
  const who = "Test <test@example.com> 0 +0000";
  const text = `tree ${gitId(tree)}\nauthor ${who}\ncommitter ${who}\n\nx\n`;
  const commit: PackObject = { type: "commit", body: Buffer.from(text) };
  const pack = packOf([commit, tree, file, ...others]);
  const id = gitId(commit);
  const can = "shallow allow-reachable-sha1-in-want ofs-delta";
  return async (request, response) => {
    const asked = await buffer(request);
    if (request.method === "GET") {
      const service = "application/x-git-upload-pack-advertisement";
      response.setHeader("Content-Type", service);
      response.write(`${line("# service=git-upload-pack\n")}0000`);
      response.write(line(`${id} HEAD\0${can}\n`));
      response.end(`${line(`${id} refs/heads/main\n`)}0000`);
    } else {
      const isPacked = request.headers["content-encoding"] === "gzip";
      const text = (isPacked ? gunzipSync(asked) : asked).toString();
      response.setHeader(
        "Content-Type",
        "application/x-git-upload-pack-result",
      );
      if (text.includes("deepen "))
        response.write(`${line(`shallow ${id}`)}0000`);
      response.write(line("NAK\n"));
      response.end(pack);
    }
    await once(response, "close");
  };
}

function line(text: string): string {
  return (text.length + 4).toString(16).padStart(4, "0") + text;
}

/** The type and size of an object (gitformat-pack). */
function headerOf(type: number, size: number): Buffer {
  const rest = Math.floor(size / 16);
  const first = (type << 4) | (size % 16);
  if (rest === 0) return Buffer.of(first);
  return Buffer.concat([Buffer.of(first | 128), lengthOf(rest)]);
}

/** Seven bits in a byte, the least significant first. */
function lengthOf(value: number): Buffer {
  const rest = Math.floor(value / 128);
  const first = value % 128;
  if (rest === 0) return Buffer.of(first);
  return Buffer.concat([Buffer.of(first | 128), lengthOf(rest)]);
}

/** The distance back to a changed object, most significant digits first. */
function distanceOf(distance: number): Buffer {
  const bytes = [distance & 127];
  for (let rest = distance >> 7; rest > 0; rest = rest >> 7)
    bytes.unshift(128 | (--rest & 127));
  return Buffer.from(bytes);
}

import { buffer } from "node:stream/consumers";
import { gunzipSync, gzipSync } from "node:zlib";
import { extract, pack, type Header } from "tar-stream";
import yazl from "yazl";

/** A member: a file's text, or any header. */
export async function tarGz(
  members: readonly (readonly [string, string | Partial<Header>])[],
): Promise<Buffer> {
  const packing = pack();
  for (const [name, content] of members)
    if (typeof content === "string") packing.entry({ name }, content);
    else packing.entry({ name, ...content });
  packing.finalize();
  return gzipSync(await buffer(packing));
}

/** The headers of a tar.gz, each with its content. */
export async function readTarGz(bytes: Buffer) {
  const entries = extract();
  entries.end(gunzipSync(bytes));
  const found = [];
  for await (const entry of entries) {
    const text = (await buffer(entry)).toString("latin1");
    found.push({ ...entry.header, text });
  }
  return found;
}

/** Contents of its files by name. */
export async function unpack(bytes: Buffer): Promise<object> {
  const found = await readTarGz(bytes);
  return Object.fromEntries(found.map(({ name, text }) => [name, text]));
}

/** A mode makes links. */
export function zip(
  members: readonly (readonly [string, string | Buffer, number?])[],
): Promise<Buffer> {
  const file = new yazl.ZipFile();
  for (const [name, content, mode = 0o100644] of members)
    file.addBuffer(Buffer.from(content), name, { mode });
  file.end();
  return buffer(file.outputStream);
}

import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { pack, type Header } from "tar-stream";
import yazl from "yazl";

/** A member of a tar: a file's text, or any header. */
export type Member = readonly [name: string, content: string | Partial<Header>];

/** Uncompressed; the members are written as they are, however harmful. */
export async function tar(members: readonly Member[]): Promise<Buffer> {
  const packing = pack();
  for (const [name, content] of members)
    if (typeof content === "string") packing.entry({ name }, content);
    else packing.entry({ name, ...content });
  packing.finalize();
  return buffer(packing);
}

export async function tarGz(members: readonly Member[]): Promise<Buffer> {
  return gzipSync(await tar(members));
}

/** Names are not checked; a mode makes links and devices. */
export async function zip(
  members: readonly (readonly [
    name: string,
    content: string | Buffer,
    mode?: number,
  ])[],
): Promise<Buffer> {
  const file = new yazl.ZipFile();
  const substitutes = members.map(([name, content, mode = 0o100644], index) => {
    // yazl refuses bad names, so they are put in afterwards.
    const substitute = `${index}`.padEnd(Buffer.byteLength(name), "x");
    file.addBuffer(Buffer.from(content), substitute, { mode });
    return { name: Buffer.from(name), substitute: Buffer.from(substitute) };
  });
  file.end();
  const bytes = await buffer(file.outputStream);
  for (const { name, substitute } of substitutes)
    for (let at = bytes.indexOf(substitute); at >= 0;) {
      name.copy(bytes, at);
      at = bytes.indexOf(substitute, at + 1);
    }
  return bytes;
}

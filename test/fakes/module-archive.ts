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

/** A header and its content; every field but the name may lie. */
export interface TarPart {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly type?: string;
  readonly link?: string;
  /** `ustar\0` and `00` by default. */
  readonly magic?: string;
}

/** A member of a tar, made byte by byte, so that hostile shapes can be made too. */
export function tarEntry(part: TarPart): Buffer {
  const content = Buffer.from(part.content ?? "");
  const header = Buffer.alloc(512);
  header.write(part.name, 0, 100);
  header.write("0000644\0", 100);
  header.write(`${content.length.toString(8).padStart(11, "0")}\0`, 124);
  header.write(part.type ?? "0", 156);
  header.write(part.link ?? "", 157, 100);
  header.write(part.magic ?? "ustar\x0000", 257);
  const padding = Buffer.alloc(-content.length & 511);
  return Buffer.concat([sealHeader(header), content, padding]);
}

/** A header that was changed and has the right checksum again. */
export function sealHeader(header: Buffer): Buffer {
  const sum = header.fill(" ", 148, 156).reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
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

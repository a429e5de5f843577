import { gzipSync } from "node:zlib";

/** A header and its content; every field but the name may lie. */
export interface TarPart {
  readonly name: string;
  readonly content?: string | Buffer;
  readonly type?: string;
  readonly link?: string;
  /** `ustar\0` and `00` by default. */
  readonly magic?: string;
  /** Written last, before the checksum. */
  readonly at?: readonly (readonly [offset: number, bytes: string])[];
}

export const end = Buffer.alloc(1024);
export const main: TarPart = { name: "main.tf", content: "# main\n" };

/** A tar made block by block, so that hostile shapes can be made too. */
export function tarBytes(
  parts: readonly (TarPart | Buffer)[],
  after: Buffer = end,
): Buffer {
  const blocks = parts.map((part) =>
    Buffer.isBuffer(part)
      ? part
      : Buffer.concat([headerOf(part), padded(part.content ?? "")]),
  );
  return Buffer.concat([...blocks, after]);
}

export function tarGzBytes(parts: readonly (TarPart | Buffer)[]): Buffer {
  return gzipSync(tarBytes(parts));
}

/** A pax header with these records; `global` for all members. */
export function pax(
  records: Readonly<Record<string, string>>,
  type: "x" | "g" = "x",
): TarPart {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = rest.length + 1;
    while (rest.length + String(length).length !== length) length++;
    return `${length}${rest}`;
  });
  return { name: "pax", type, content: lines.join("") };
}

/** GNU's header for a long name or, with `K`, a long link. */
export function long(text: string, type: "L" | "K" = "L"): TarPart {
  return {
    name: "././@LongLink",
    type,
    content: `${text}\0`,
    magic: "ustar  \0",
  };
}

function headerOf(part: TarPart): Buffer {
  const block = Buffer.alloc(512);
  const content = Buffer.from(part.content ?? "");
  const size = `${content.length.toString(8).padStart(11, "0")}\0`;
  block.write(part.name, 0, 100);
  block.write("0000644\0", 100);
  block.write("0000000\x000000000\0", 108);
  block.write(size, 124);
  block.write("00000000000\0", 136);
  block.write(part.type ?? "0", 156, "latin1");
  block.write(part.link ?? "", 157, 100);
  block.write(part.magic ?? "ustar\x0000", 257, "latin1");
  for (const [offset, bytes] of part.at ?? [])
    block.write(bytes, offset, "latin1");
  const sum = block.fill(" ", 148, 156).reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

function padded(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & 511)]);
}

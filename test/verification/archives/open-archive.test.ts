import { expect, it } from "vitest";
import { readPieces } from "../../../src/verification/archives/open-archive.ts";
import { withArchive } from "./own-reading.ts";

const pieceBytes = 1 << 19;

it("a piece is good until the one after the next is asked for", async () => {
  const bytes = Buffer.concat(
    [1, 2, 3].map((octet) => Buffer.alloc(pieceBytes, octet)),
  );
  await withArchive(bytes, async (archive) => {
    let before: Buffer | undefined;
    const found: (number | undefined)[] = [];
    for await (const piece of readPieces(archive, 1, bytes.length - 1)) {
      found.push(before?.[0], piece[0], piece.length);
      before = piece;
    }
    const [most, rest] = [pieceBytes, pieceBytes - 1];
    expect(found).toEqual([undefined, 1, most, 1, 2, most, 2, 3, rest]);
  });
});

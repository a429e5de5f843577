import { describe, expect, it } from "vitest";
import { limits, readOurselves } from "./own-reading.ts";
import { long, pax, tarGzBytes, type TarPart } from "./tar-bytes.ts";
import { zipBytes } from "./zip-bytes.ts";

const file: TarPart = { name: "main.tf", content: "" };
const many = <T>(count: number, make: (index: number) => readonly T[]) =>
  Array.from({ length: count }, (_, index) => make(index)).flat();
const named = (name: string) => tarGzBytes([pax({ path: name }), file]);

describe("an archive is refused", () => {
  const { entries } = limits;
  it.each<[string, Buffer, RegExp]>([
    [
      "for too many members",
      tarGzBytes(many(entries + 1, (index) => [{ name: String(index) }])),
      /more than 1000 members/,
    ],
    [
      "for too many global headers",
      tarGzBytes([...many(70, () => [pax({ a: "b" }, "g")]), file]),
      /too many attributes/,
    ],
    [
      "for too much text in long names",
      tarGzBytes(
        many(150, (index) => [
          long(`${String(index)}${"x".repeat(4000)}`),
          file,
        ]),
      ),
      /names are too long or too deep together/,
    ],
    [
      "for an attribute that is too long",
      named("x".repeat(70_000)),
      /too many attributes/,
    ],
    ["for a path of more than 4 KiB", named("x".repeat(4097)), /is named/],
    [
      "for a path of more than 256 parts",
      named("a/".repeat(256) + "b"),
      /is named/,
    ],
    [
      "for a target of more than 4 KiB",
      tarGzBytes([pax({ linkpath: "x".repeat(4097) }), { ...file, type: "2" }]),
      /is a link to/,
    ],
    [
      "for a target of more than 256 parts",
      tarGzBytes([pax({ linkpath: "a/".repeat(257) }), { ...file, type: "2" }]),
      /is a link to/,
    ],
    [
      "for links of too many parts together",
      tarGzBytes(
        many(200, (index) => [
          long(`${String(index)}/${"a/".repeat(200)}b`),
          { ...file, type: "2", link: "x" },
        ]),
      ),
      /names are too long or too deep together/,
    ],
  ])("%s", async (_, bytes, reason) => {
    await expect(readOurselves("tar.gz", bytes)).rejects.toThrow(reason);
  });

  it("in a zip for names as in a tar", async () => {
    const name = "a/".repeat(256) + "b";
    const bytes = zipBytes([{ name, content: "" }]);
    await expect(readOurselves("zip", bytes)).rejects.toThrow(/is named/);
    const texts = many(150, (index) => [
      { name: `${String(index)}${"x".repeat(4000)}`, content: "" },
    ]);
    await expect(readOurselves("zip", zipBytes(texts))).rejects.toThrow(
      /names are too long or too deep together/,
    );
  });
});

it("names of the longest kind are accepted", async () => {
  for (const name of ["x".repeat(4096), `${"a/".repeat(255)}b`])
    expect((await readOurselves("tar.gz", named(name))).members).toHaveLength(
      1,
    );
});

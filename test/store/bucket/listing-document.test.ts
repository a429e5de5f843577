import { expect, it } from "vitest";
import { parseListing } from "../../../src/store/bucket/listing-document.ts";

it.each([
  ["a%2Fb", "a/b"],
  ["a+b%2B", "a b+"],
  ["%C3%A9", "é"],
  ["%FF", "%FF"],
  ["a%", "a%"],
])(
  "reads the name %s of an object, whatever bytes it has",
  async (written, name) => {
    const object = `<Key>${written}</Key><Size>1</Size><ETag>"e"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified>`;
    const text = `<ListBucketResult><Contents>${object}</Contents></ListBucketResult>`;
    const { objects } = await parseListing(text);
    expect(objects.map(({ key }) => key)).toEqual([name]);
  },
);

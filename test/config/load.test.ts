import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { load, temporaryFolder } from "./written.ts";

describe("the configuration", () => {
  // config.example.yaml has the other defaults.
  it("has the two public registries when the file is empty", () => {
    expect(
      Array.from(load("").origins, ([name, { signatures }]) => [
        name,
        signatures,
      ]),
    ).toEqual([
      ["registry.terraform.io", "required"],
      ["registry.opentofu.org", "when-published"],
    ]);
  });

  it("takes a key without a value, or a file of comments, as not written", () => {
    const defaults = { ...load(""), source: expect.any(String) as string };
    const emptied = load(
      "listen:\nstorage:\n  directory:\nlimits:\n  archive:\n",
    );
    expect(emptied).toMatchObject(defaults);
    expect(load("# nothing\n")).toMatchObject(defaults);
  });

  it("has what is written, as numbers of bytes and milliseconds", () => {
    const configuration = load(
      [
        "listen: { host: '::', port: 0, tls: off }",
        "freshness: { versions: 0, staleFor: 1h }",
        "offline: true",
        "limits: { archive: 512MiB, connections: 5 }",
        "log: { level: debug }",
      ].join("\n"),
    );
    expect(configuration).toMatchObject({
      listen: { host: "::", port: 0, tls: { kind: "off" } },
      freshness: { versions: 0, staleFor: 3_600_000 },
      offline: true,
      limits: { archive: 2 ** 29, connections: 5 },
      log: { level: "debug" },
    });
  });

  it("resolves relative paths against the folder of the file", () => {
    const folder = temporaryFolder();
    const { listen, storage } = load(
      "listen: { tls: { certificate: tls.crt, key: /keys/tls.key } }\nstorage: { directory: ../data }",
      {},
      folder,
    );
    expect(listen.tls).toEqual({
      kind: "files",
      certificate: join(folder, "tls.crt"),
      key: "/keys/tls.key",
    });
    expect(storage.directory).toBe(join(folder, "../data"));
  });

  it("allows aliases, which stand for what they name", () => {
    const { freshness } = load(
      "freshness: { versions: &short 10s, staleFor: *short }",
    );
    expect(freshness).toMatchObject({ versions: 10_000, staleFor: 10_000 });
  });
});

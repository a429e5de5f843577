import { describe, expect, it } from "vitest";
import {
  parseModuleSource,
  resolveLocation,
} from "../../src/address/module-source.ts";

const module = "registry.example.com/acme/net/aws 1.0.0";
const base = "https://registry.example.com/v1/modules/";
const rows = (reason: string, ...places: readonly string[]) =>
  places.map((place): [string, string, string?] => [place, reason]);
const gotScheme = (scheme: string) =>
  `expected git or an archive over HTTP, got "${scheme}"`;
const gotRef = (ref: string) =>
  `expected a ref that git would make, got "${ref}"`;
const folders = ["../..", "a\\..\\..", "%2e%2E/a"];
const places = ["git::ssh://git@a.example/x", "s3.a.example/x"];

describe("a place that no client should be sent to", () => {
  it.each([
    ...rows(
      "expected at most 4096 printable characters",
      ...["", "https://a.example/a\tb", "https://a.example/a\u202eb.zip"],
      `https://a.example/${"x".repeat(4096)}`,
    ),
    ...rows(
      "it holds control characters",
      ...["https://a.example/a%0Ab.zip", "git::ssh://git@a.example/x?y=%7F"],
    ),
    ...rows("it is not a URL", "https://:1:1/", "git::https://:1:1/"),
    ["/a", "it is not a URL", "none"],
    ...rows(
      "it is neither a URL nor a known short form",
      ...["a/b", "git::ext::sh -c id", "file:/etc", "hg::/etc", "C:\\x"],
    ),
    ...rows(
      gotScheme("file"),
      ...["file:///etc/passwd", "s3::FILE:///etc", "file::https://a.example/x"],
    ),
    ...rows(gotScheme("ext"), "ext://sh/x.zip"),
    ...rows(gotScheme("fd"), "fd::ssh://a.example/17"),
    ...rows(
      "it holds an option or a command",
      ...["git::ssh://-oProxyCommand=x/y", "git::ssh://git@-oProxyCommand=x/y"],
      ...["git@a.example:--upload-pack=x", "git::ssh://git@a.example/$(id)"],
    ),
    ...rows(
      'expected a folder in the package, got "../etc"',
      "https://u:secret@a.example/x.zip//../etc?token=secret",
    ),
    ...folders.flatMap((folder) =>
      rows(
        `expected a folder in the package, got ${JSON.stringify(folder)}`,
        ...places.map((place) => `${place}//${folder}`),
      ),
    ),
    ...rows(
      gotRef("--upload-pack"),
      "git::smb://a/x?ref=v1&ref=--upload-pack",
      "git::https://u:secret@a.example/x?ref=--upload-pack",
    ),
    ...rows(gotRef("$(id)"), "git::https://a.example/x?ref=$(id)"),
    ...rows(gotRef("v1/../v2"), "git::https://a.example/x?ref=v1/../v2"),
  ])("is refused in a sentence that names its module: %s", (...row) => {
    const [location, reason, from = base] = row;
    const message = `The place that the registry names for ${module} is refused (${reason}): tell its publisher.`;
    expect(() => parseModuleSource(module, location, from)).toThrow(
      expect.objectContaining({ code: "module-source-refused", message }),
    );
  });

  it("is refused so where it counts from nothing, too", () => {
    expect(() => resolveLocation(module, "/a", "none")).toThrow(module);
  });
});

describe("what only clients can fetch", () => {
  it.each(
    Object.entries({
      "git::ssh://APKAEXAMPLE@git.example/v1/repos/net?ref=v1.0.0":
        "git over ssh",
      "git@git.example:acme/net.git": "git over ssh",
      "git::http://git.example/net.git": "git over http",
      "git::https://git.example/net.git?ref=v1.0.0~1": "git at a revision",
      "git::https://git.example/net.git?sshkey=x": "git with other parameters",
      "git::https://git.example/net.git//a[b]?ref=v1":
        "an unusual folder in the package",
      "s3::https://s3.eu-west-1.amazonaws.com/bucket/net.zip": "s3",
      "s3-eu-west-1.amazonaws.com/bucket/net.zip": "a short form",
      "git::gitlab.example:8443/acme/net": "a short form",
      "oci://registry.example/net?tag=v1": "oci",
      "git::https://me@git.example/net.git": "git with a login",
      "git::https://git.example/net.git?ref=@": "git at a revision",
      "http://files.example/net.zip": "http without TLS",
      "hg::https://hg.example/net": "hg",
      "https://files.example/net": "http without a known archive",
    }),
  )("is left to them: %s", (location, getter) => {
    expect(parseModuleSource(module, location, base)).toEqual({
      kind: "foreign",
      getter,
    });
  });

  it.each([
    ["release(1)", "release(1)"],
    ["feature/a%2Bb", "feature/a+b"],
    ["v1.0.0%23rc", "v1.0.0#rc"],
    ["@scope/net@1.0.0", "@scope/net@1.0.0"],
    ["a%26b<%22c%22>", 'a&b<"c">'],
  ])("is not git over https at the ref %s", (written, ref) => {
    const location = `git::https://git.example/net.git//modules/b&c?ref=${written}`;
    expect(parseModuleSource(module, location, base)).toMatchObject({
      ...{ kind: "git", ref, subdirectory: "modules/b&c" },
    });
  });
});

it("letters beyond ASCII are a part of a URL", () => {
  const location = "https://files.example/m\u00f3dulo \u7248.zip//sub";
  expect(parseModuleSource(module, location, base)).toMatchObject({
    url: new URL("https://files.example/m%C3%B3dulo%20%E7%89%88.zip"),
    subdirectory: "sub",
  });
});

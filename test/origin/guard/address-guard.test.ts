import { promisify } from "node:util";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { ProvenderError } from "../../../src/errors/index.ts";
import * as faults from "../../fakes/faults.ts";
import { endWithFile } from "../../file-end.ts";
import { never, startHome } from "../clients.ts";
import { failing } from "../../scenes/failing.ts";
import {
  checkUrl,
  guardedLookup,
  hostAndPort,
} from "../../../src/origin/guard/address-guard.ts";

/** Written as in a URL; the reason they are refused is the heading. */
const refused: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.1", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]"],
  "other forms of the loopback": [
    ...["127.1", "127.0.1", "2130706433", "0x7f000001", "0177.0.0.1"],
    ...["0x7f.0x0.0x0.0x1", "127.0.0.1.", "１２７.０.０.１", "127。0。0。1"],
  ],
  private: [
    ...["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255"],
    ...["192.168.0.1", "0x0a000001", "167772161", "012.0.0.1"],
  ],
  "shared (RFC 6598)": ["100.64.0.1", "100.127.255.255"],
  "link-local": ["169.254.0.1", "169.254.169.254", "[fe80::1]", "[febf::1]"],
  "this network": ["0.0.0.0", "0.1.2.3", "0"],
  multicast: ["224.0.0.1", "239.255.255.255", "[ff02::1]", "[ff0e::1]"],
  "broadcast and reserved": ["255.255.255.255", "240.0.0.1"],
  documentation: [
    ...["192.0.2.1", "198.51.100.1", "203.0.113.1"],
    ...["[2001:db8::1]", "[3fff::1]", "[3fff:fff::1]"],
  ],
  benchmarks: ["198.18.0.1", "198.19.255.255", "[2001:2::1]"],
  "protocol assignments": ["192.0.0.1", "192.88.99.1"],
  unspecified: ["[::]"],
  "unique local": ["[fc00::1]", "[fd12:3456::1]"],
  "site-local": ["[fec0::1]"],
  "mapped, compatible and translated": [
    ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:8.8.8.8]"],
    ...["[::127.0.0.1]", "[::8.8.8.8]", "[::ffff:0:127.0.0.1]"],
    ...["[64:ff9b::7f00:1]", "[64:ff9b::8.8.8.8]", "[64:ff9b:1::7f00:1]"],
  ],
  tunnelled: [
    ...["[2002:7f00:1::]", "[2002:808:808::1]", "[2001::1]"],
    "[2001:0:808:808::1]",
  ],
  "not global": [
    ...["[100::1]", "[2001:10::1]", "[2001:20::1]", "[5f00::1]", "[4000::1]"],
  ],
};

const allowed: readonly string[] = [
  ...["1.1.1.1", "8.8.8.8", "99.255.255.255", "100.63.255.255", "100.128.0.0"],
  ...["128.0.0.1", "172.15.255.255", "172.32.0.1", "192.167.255.255"],
  ...["223.255.255.255", "[2606:4700::1111]", "[2a00:1450:4001::1]"],
  ...["registry.terraform.io", "localhost.example.com"],
];

const addressRefused = failing("origin-address-refused");
const closed = { configured: new Set<string>(), allowPrivateAddresses: false };

it.each([
  ...Object.entries(refused),
  ["schemes", ["http://a.example/", "ftp://a.example/", "file:///etc"]],
  ["ports", [8443, 80, 22].map((port) => `registry.example.com:${port}`)],
] as const)("the guard refuses %s", (_, hosts) => {
  for (const host of hosts) {
    const url = new URL(host.includes("/") ? host : `https://${host}/path`);
    expect(() => checkUrl(url, closed), host).toThrow(addressRefused);
  }
});

it("the guard lets public addresses and names pass, and what the operator wrote, for that host and port alone", () => {
  for (const host of allowed) checkUrl(new URL(`https://${host}/path`), closed);
  const written = hostAndPort(new URL("https://10.0.0.1:8443/"));
  const configured = { ...closed, configured: new Set([written]) };
  checkUrl(new URL("https://10.0.0.1:8443/any/path"), configured);
  checkUrl(new URL("https://0x0a000001:8443/any/path"), configured);
  for (const other of [
    ...["https://10.0.0.1/", "https://10.0.0.1:8444/"],
    ...["https://10.0.0.2:8443/", "http://10.0.0.1:8443/"],
  ])
    expect(() => checkUrl(new URL(other), configured), other).toThrow(
      addressRefused,
    );
});

it("allowPrivateAddresses lifts the rules on addresses, but not https", () => {
  const open = { ...closed, allowPrivateAddresses: true };
  checkUrl(new URL("https://10.0.0.1:8443/"), open);
  expect(() => checkUrl(new URL("http://10.0.0.1/"), open)).toThrow(
    addressRefused,
  );
});

it("the guard shows no user, password or query in what it refuses", () => {
  const url = new URL("https://user:hunter2@10.0.0.1/path?token=hunter2#x");
  expect(() => checkUrl(url, closed)).toThrow(
    /^https:\/\/10\.0\.0\.1\/path is not asked/,
  );
});

it("the guarded resolver gives public addresses alone, in both forms", async () => {
  const lookup = promisify(guardedLookup);
  for (const name of ["localhost", "127.0.0.1", "::1", "::ffff:127.0.0.1"])
    for (const options of [{ all: true }, {}])
      await expect(lookup(name, options)).rejects.toThrow(addressRefused);
  const address = "1.1.1.1";
  expect(await lookup(address, { all: true })).toEqual([
    { address, family: 4 },
  ]);
  expect(await lookup(address, {})).toBe(address);
});

const { home, clientOf } = await startHome();

let heard = 0;
/** Hears every address of this machine. */
const canary = createServer((socket) => {
  heard++;
  socket.destroy();
}).listen(0, "::");
await once(canary, "listening");
endWithFile(() => canary.close());
const { port } = canary.address() as AddressInfo;

const hosts = Object.values(refused).flat();

/** Written with `PORT` where the canary's port goes. */
const urls: readonly string[] = [
  ...[
    ...[...hosts, ...hosts.map((host) => `${host}:PORT`), "127.0.0.1\t:PORT"],
    ...["localhost", "LOCALHOST", "localhost.", "localhost:PORT"],
    ...["localhost.:PORT", "127.0.0.1:PORT\t", "registry.example.com:PORT"],
    ...["u:p@registry.example.com", "registry.example.com@127.0.0.1:PORT"],
    ...["127.0.0.1:PORT@registry.example.com", "a.example:443@127.0.0.1:PORT"],
  ].map((host) => `https://${host}/x`),
  ...["http://127.0.0.1:PORT/x", "http://localhost:PORT/x"],
  ...["http://registry.example.com:PORT/x", "ftp://127.0.0.1:PORT/x"],
  ...["//127.0.0.1:PORT/x", "//[::1]:PORT/x", "\\\\127.0.0.1:PORT\\x"],
  ...["https:127.0.0.1:PORT/x", "https:/127.0.0.1:PORT/x"],
  ...["https:\\\\127.0.0.1:PORT/x", "ht\ntps://127.0.0.1:PORT/x"],
  ...[" https://127.0.0.1:PORT/x", "file:///etc/passwd"],
  ...["data:application/json,{}", "unix:/var/run/docker.sock"],
];

it("sends nothing to any of them: asked at once, redirected, or for an archive", async () => {
  const client = clientOf();
  for (const text of urls) {
    const written = text.replaceAll("PORT", String(port));
    const asked = URL.parse(written, home.url);
    if (asked !== null && asked.origin !== new URL(home.url).origin)
      await expect(
        client.fetchDocument(asked, 100, never),
        `asked for ${text}`,
      ).rejects.toThrow(ProvenderError);
    if (!/[\t\n]/.test(written)) {
      // Headers are Latin-1; the bytes of UTF-8 are what a server would send.
      const location = Buffer.from(written, "utf8").toString("latin1");
      home.script("other", [faults.redirect(location)]);
      await expect(
        client.openArchive(new URL("/moved", home.url), never),
        `redirected to ${text}`,
      ).rejects.toThrow(ProvenderError);
    }
  }
  expect(heard).toBe(0);
  await client.close();
  // With this it would have been heard.
  const free = clientOf({ allowPrivateAddresses: true });
  const url = new URL(`https://127.0.0.1:${port}/x`);
  await expect(free.fetchDocument(url, 100, never)).rejects.toThrow(
    ProvenderError,
  );
  expect(heard).toBeGreaterThan(0);
});

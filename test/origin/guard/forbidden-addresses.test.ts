import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import { ProvenderError } from "../../../src/errors/index.ts";
import * as faults from "../../fakes/faults.ts";
import { refused } from "./addresses.ts";
import { startHome, never } from "../clients.ts";

const { home, clientOf } = await startHome();
const canary = await startCanary();

afterAll(() => {
  canary.stop();
});

/** Hears every address of this machine. */
async function startCanary() {
  const heard = { port: 0, connections: 0, stop: () => undefined as unknown };
  const server = createServer((socket) => {
    heard.connections++;
    socket.destroy();
  });
  server.listen(0, "::");
  await once(server, "listening");
  heard.port = (server.address() as AddressInfo).port;
  heard.stop = () => server.close();
  return heard;
}

/** Written with `PORT` where the canary's port goes. */
const urls: readonly string[] = [
  ...Object.values(refused).flatMap((hosts) =>
    hosts.flatMap((host) => [`https://${host}/x`, `https://${host}:PORT/x`]),
  ),
  ...[
    "https://localhost/x",
    "https://LOCALHOST/x",
    "https://localhost./x",
    "https://localhost:PORT/x",
    "https://localhost.:PORT/x",
    "http://127.0.0.1:PORT/x",
    "http://localhost:PORT/x",
    "http://registry.example.com:PORT/x",
    "//127.0.0.1:PORT/x",
    "//[::1]:PORT/x",
    "\\\\127.0.0.1:PORT\\x",
    "https:127.0.0.1:PORT/x",
    "https:/127.0.0.1:PORT/x",
    "https:\\\\127.0.0.1:PORT/x",
    "https://registry.example.com@127.0.0.1:PORT/x",
    "https://127.0.0.1:PORT@registry.example.com/x",
    "https://registry.example.com:443@127.0.0.1:PORT/x",
    "https://127.0.0.1:PORT\\@registry.example.com/x",
    "https://127.0.0.1:PORT#@registry.example.com/x",
    "https://127.0.0.1:PORT?@registry.example.com/x",
    "https://[::1]:PORT/x",
    "https://[::ffff:127.0.0.1]:PORT/x",
    "https://0:PORT/x",
    "https://127.1:PORT/x",
    "https://%31%32%37.0.0.1:PORT/x",
    "https://127.0.0.1%2f:PORT/x",
    "https://127.0.0.1\t:PORT/x",
    "https://127.0.0.1:PORT\t/x",
    "ht\ntps://127.0.0.1:PORT/x",
    " https://127.0.0.1:PORT/x",
    "https://registry.example.com:22/x",
    "https://registry.example.com:80/x",
    "https://registry.example.com:PORT/x",
    "https://user@registry.example.com/x",
    "https://user:pass@registry.example.com/x",
    "file:///etc/passwd",
    "ftp://127.0.0.1:PORT/x",
    "ws://127.0.0.1:PORT/x",
    "gopher://127.0.0.1:PORT/x",
    "data:application/json,{}",
    "javascript:0",
    "blob:https://127.0.0.1:PORT/x",
    "unix:/var/run/docker.sock",
  ],
];

it("is tried with enough of them", () => {
  expect(urls.length).toBeGreaterThanOrEqual(120);
});

it("sends nothing to any of them: asked at once, redirected, or for an archive", async () => {
  const client = clientOf();
  let refusals = 0;
  for (const text of urls) {
    const written = text.replaceAll("PORT", String(canary.port));
    const asked = URL.parse(written, home.url);
    if (asked !== null && asked.origin !== new URL(home.url).origin)
      await expect(
        client.fetchDocument(asked, 100, never),
        `asked for ${text}`,
      ).rejects.toThrow(ProvenderError);
    if (!/[\t\n]/.test(written)) {
      home.script("other", [faults.redirect(encodeLocation(written))]);
      await expect(
        client.openArchive(new URL("/moved", home.url), never),
        `redirected to ${text}`,
      ).rejects.toThrow(ProvenderError);
    }
    refusals++;
  }
  console.log(
    `${refusals} URLs, asked for and redirected to: ${canary.connections} connections to the canary`,
  );
  expect(canary.connections).toBe(0);
  await client.close();
});

it("reaches the canary with allowPrivateAddresses, so that it would have been heard", async () => {
  const client = clientOf({ allowPrivateAddresses: true });
  const url = new URL(`https://127.0.0.1:${canary.port}/x`);
  await expect(client.fetchDocument(url, 100, never)).rejects.toThrow(
    ProvenderError,
  );
  expect(canary.connections).toBeGreaterThan(0);
});

/** Headers are Latin-1; the bytes of UTF-8 are what a server would send. */
function encodeLocation(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

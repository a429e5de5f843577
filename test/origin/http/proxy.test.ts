import { describe, expect, it, onTestFinished } from "vitest";
import { failing } from "../../scenes/failing.ts";
import type { HttpClient } from "../../../src/origin/http/http-client.ts";
import { createAuthority } from "../../fakes/authority.ts";
import * as faults from "../../fakes/faults.ts";
import { startProxy, type ProxyOptions } from "../../fakes/proxy.ts";
import { startRegistry } from "../../fakes/registry.ts";
import { makeClient, never } from "../clients.ts";

const hostname = "registry.example.com";

const authority = await createAuthority();
const ca = authority.caPem;
const registry = await startRegistry({ authority, hostname });
registry.serve("/document", '{"a":1}');

async function behindProxy(options: ProxyOptions = {}, no?: string, user = "") {
  const routes = { [`${hostname}:443`]: `127.0.0.1:${registry.port}` };
  const proxy = await startProxy({ routes, ...options });
  const url = new URL(proxy.url.replace("//", `//${user}`));
  const client = makeClient(`https://${hostname}/`, ca, {
    configured: new Set(),
    proxy: { https: url, no },
  });
  onTestFinished(async () => {
    await client.close();
    await proxy.stop();
  });
  return { proxy, client };
}

function ask(client: HttpClient, url = `https://${hostname}/document`) {
  return client.fetchJson(new URL(url), never);
}

describe("a corporate proxy", () => {
  it("is used for https, though it is on a private address, and gets its user and password alone", async () => {
    for (const [user, sent] of [
      ["", undefined],
      ["me:p%40ss@", `Basic ${Buffer.from("me:p@ss").toString("base64")}`],
    ] as const) {
      registry.requests.clear();
      const { proxy, client } = await behindProxy({}, "", user);
      expect((await ask(client)).value).toEqual({ a: 1 });
      expect(proxy.tunnels).toEqual([`${hostname}:443`]);
      expect(proxy.credentials).toEqual([sent]);
      const [{ headers } = {}] = registry.requests.list();
      expect(headers?.["proxy-authorization"]).toBeUndefined();
    }
  });

  it("resolves names, so that only what a URL shows is refused", async () => {
    const { proxy, client } = await behindProxy();
    const refused = failing("origin-address-refused");
    for (const url of [
      ...["https://127.0.0.1/", "https://0x7f.1/", "https://[::1]/"],
      ...[`https://${hostname}:8443/`, `http://${hostname}/`],
    ])
      await expect(ask(client, url)).rejects.toThrow(refused);
    registry.script("other", [faults.redirect("https://192.168.0.1/")]);
    await expect(ask(client)).rejects.toThrow(refused);
    expect(proxy.tunnels).toEqual([`${hostname}:443`]);
  });

  it("that refuses is an origin that cannot be reached", async () => {
    const refuse = "407 Proxy Authentication Required";
    const { client } = await behindProxy({ refuse }, "", "me:hush@");
    await expect(ask(client)).rejects.toThrow(failing("origin-unreachable"));
    await expect(ask(client)).rejects.not.toThrow(/hush/);
  });

  it("must lead to the origin's own certificate", async () => {
    const { client } = await behindProxy({
      routes: { "other.example.com:443": `127.0.0.1:${registry.port}` },
    });
    await expect(ask(client, "https://other.example.com/")).rejects.toThrow(
      failing("origin-unreachable"),
    );
  });

  it("is left out for what NO_PROXY names, and the address guard is not", async () => {
    for (const no of ["example.com", "*", "localhost"]) {
      const { proxy, client } = await behindProxy({}, no);
      const host = no === "localhost" ? no : hostname;
      await expect(ask(client, `https://${host}/`)).rejects.toThrow(
        host === hostname ? undefined : /an address that is not public/,
      );
      expect(proxy.tunnels).toEqual([]);
    }
    const { proxy, client } = await behindProxy({}, "example.org");
    await ask(client);
    expect(proxy.tunnels).toEqual([`${hostname}:443`]);
  });
});

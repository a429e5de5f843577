import { afterEach, describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { ServiceDiscovery } from "../../../src/origin/registries/service-discovery.ts";
import { barrier } from "../../fakes/barrier.ts";
import * as faults from "../../fakes/faults.ts";
import { makeClient, never, startHome } from "../clients.ts";

const services = { "providers.v1": "/v1/providers/" };

const { ca, home: registry } = await startHome();

afterEach(() => void (registry.services = services));

function discover(freshFor = 60_000, url = registry.url): ServiceDiscovery {
  return new ServiceDiscovery(makeClient(url, ca), new URL(url), freshFor);
}

async function findProviders(discovery = discover()): Promise<string> {
  return (await discovery.findService("providers.v1", never)).href;
}

describe("service discovery", () => {
  it.each([
    ["/v1/providers/", "/v1/providers/"],
    ["/v1/providers", "/v1/providers/"],
    ["v1/", "/.well-known/v1/"],
    ["https://other.example.com/p", "https://other.example.com/p/"],
    ["//other.example.com/p/", "https://other.example.com/p/"],
  ])("resolves %j against the document's own URL", async (value, expected) => {
    registry.services = { "providers.v1": value };
    expect(await findProviders()).toBe(new URL(expected, registry.url).href);
  });

  it("resolves against where redirects ended, and starts below the path of the origin's URL", async () => {
    registry.serve("/moved/here/terraform.json", '{"providers.v1":"p"}');
    const moved = faults.redirect("/moved/here/terraform.json");
    registry.script("discovery", [moved]);
    expect(await findProviders()).toBe(`${registry.url}moved/here/p/`);
    const path = "/some/folder/.well-known/terraform.json";
    registry.serve(path, '{"providers.v1":"/some/v1/"}');
    const discovery = discover(60_000, `${registry.url}some/folder/`);
    expect(await findProviders(discovery)).toBe(`${registry.url}some/v1/`);
  });

  it("fails without a word on absence where it names no place", async () => {
    for (const value of [undefined, null, 5, ["/v1/"], "https://"]) {
      registry.services = { "modules.v1": "/m/", "providers.v1": value };
      await expect(findProviders()).rejects.toThrow(failing("origin-answer"));
    }
    for (const text of ["[]", '"x"', "null"]) {
      registry.script("discovery", faults.body(text));
      await expect(findProviders()).rejects.toThrow(failing("origin-answer"));
    }
  });

  it("asks once for many who ask at once, and again only when that is old", async () => {
    const held = barrier();
    registry.script("discovery", held.beforeHeaders);
    const discovery = discover();
    const asked = Array.from({ length: 20 }, () => findProviders(discovery));
    await held.reached;
    held.release();
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    await findProviders(discovery);
    expect(registry.requests.count()).toBe(1);
    const forgetful = discover(0);
    await findProviders(forgetful);
    await findProviders(forgetful);
    expect(registry.requests.count()).toBe(3);
  });

  it("remembers no failure", async () => {
    registry.script("discovery", [faults.status(404), faults.html]);
    const discovery = discover();
    await expect(findProviders(discovery)).rejects.toThrow(
      failing("origin-status"),
    );
    await expect(findProviders(discovery)).rejects.toThrow(
      failing("origin-answer"),
    );
    expect(await findProviders(discovery)).toBe(`${registry.url}v1/providers/`);
  });
});

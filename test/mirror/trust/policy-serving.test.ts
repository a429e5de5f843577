import { describe, expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";
import { startOrigin } from "../../scenes/world.ts";

const { registry, config } = await startOrigin();
await registry.publish({ type: "partly", version: "1.0.0" });
for (const version of ["1.0.0", "2.0.0"])
  await registry.publish({ type: "wanted", version });
const old = new Date("2024-01-01T00:00:00Z");
const young = new Date(Date.now() - 60_000);
const old7 = "1.0.0 1.0.1 1.0.2 1.1.0 1.1.1 2.0.0 2.0.1".split(" ");
for (const version of old7)
  await registry.publish({ type: "lines", version, signedAt: old });
for (const version of ["2.0.2", "2.1.0"])
  await registry.publish({ type: "lines", version, signedAt: young });

describe("a policy of its own", () => {
  const startUnder = (policy: Readonly<Record<string, unknown>>) =>
    startMirror({ config: { ...config, policy } });

  it("refuses in the operator's words, with whom to ask", async () => {
    const rules = [
      {
        match: "*/acme/partly",
        action: "deny",
        because: "use acme/wanted",
      },
      {
        match: "*/acme/wanted",
        versions: "2.0.0",
        action: "deny",
        because: "it deletes volumes",
      },
    ];
    const policy = { contact: "#platform", rules };
    const own = await startUnder(policy);
    const partly = await requestsFor(own, "partly").index();
    expect(partly.reason).toMatch(
      /^Denied by policy\.rules\[0\] of this mirror: use acme\/wanted\. Contact: #platform, see /,
    );
    expect(partly.json()).toMatchObject({
      errors: [expect.stringContaining("(use acme/wanted)")],
      remedy: "use another provider, or ask #platform to allow it",
    });
    const versions = await own.get(
      "/v1/providers/registry.terraform.io/acme/wanted/versions",
    );
    expect(versions.json()).toMatchObject({
      warnings: [
        expect.stringContaining("2.0.0 (policy.rules[1], it deletes volumes)"),
      ],
    });
  });

  it("denies all that no rule allows, without asking the origin for it", async () => {
    const policy = {
      default: "deny",
      rules: [
        {
          match: "registry.terraform.io/acme/want*",
          action: "allow",
          versions: "~> 1.0",
        },
      ],
    };
    const own = await startUnder(policy);
    const wanted = requestsFor(own, "wanted");
    expect(await wanted.listed()).toEqual(["1.0.0"]);
    expect(await wanted.delivery("1.0.0")).toBe("200");
    expect(await wanted.outcome("2.0.0")).toBe("451 policy-denied");
    registry.requests.clear();
    const other = requestsFor(own, "partly");
    expect(outcomeOf(await other.index())).toBe("451 policy-denied");
    expect(await other.delivery("1.0.0")).toBe("451 policy-denied");
    expect(registry.requests.count()).toBe(0);
  });

  it("tells a denied provider of a host that is not served from others of it", async () => {
    const policy = {
      rules: [{ match: "other.example.com/evil/*", action: "deny" }],
    };
    const own = await startUnder(policy);
    const ask = (namespace: string) =>
      requestsFor(own, "thing", namespace, "other.example.com");
    expect(outcomeOf(await ask("good").index())).toBe("451 origin-not-served");
    expect(outcomeOf(await ask("evil").index())).toBe("451 policy-denied");
    expect(await ask("evil").outcome("1.0.0")).toBe("451 policy-denied");
  });

  it("looks up one release of each line for its age, and further only below one that is too young", async () => {
    const own = await startUnder({ minimumAge: "7d" });
    registry.requests.clear();
    const ask = requestsFor(own, "lines");
    expect(await ask.listed()).toEqual([
      "1.0.0",
      "1.0.1",
      "1.0.2",
      "1.1.0",
      "1.1.1",
      "2.0.0",
      "2.0.1",
    ]);
    // 2.1.0, 2.0.2, 2.0.1, 1.1.1 and 1.0.2.
    expect(registry.requests.count("package")).toBe(5);
    expect(await ask.listed()).toHaveLength(7);
    expect(registry.requests.count("package")).toBe(5);
  });

  it("looks nothing up for versions of which no age is asked", async () => {
    const policy = {
      rules: [
        {
          match: "registry.terraform.io/acme/lines",
          action: "allow",
          versions: "~> 2.1.0",
          minimumAge: "7d",
        },
      ],
    };
    const own = await startUnder(policy);
    registry.requests.clear();
    const listed = await requestsFor(own, "lines").listed();
    expect(listed).toHaveLength(8);
    expect(listed).not.toContain("2.1.0");
    // 2.1.0, whose key is learnt at first contact with the same look-up.
    expect(registry.requests.count("package")).toBe(1);
  });
});

import { afterEach, describe, expect, it } from "vitest";
import { parseModuleAddress } from "../../../src/address/specs/module-spec.ts";
import { formatProviderAddress } from "../../../src/address/provider-address.ts";
import { parseVersion } from "../../../src/address/version.ts";
import { failure } from "../../../src/errors/index.ts";
import { address } from "../../scenes/believed-releases.ts";
import { makeAdmission } from "../../scenes/admission-parts.ts";

const { provider, version: later } = address;

let trust: Awaited<ReturnType<typeof makeAdmission>>;

afterEach(() => trust.close());

const leftOut = (...versions: readonly string[]) =>
  versions.map((version) => ({
    version: parseVersion(version),
    kind: "denied" as const,
    cause: "policy.default",
  }));

describe("what an index leaves out", () => {
  const index = (out: readonly string[], reported: readonly string[] = []) => ({
    leftOut: leftOut(...out),
    reported: leftOut(...reported),
  });

  it("is written down once for each change", async () => {
    trust = await makeAdmission();
    for (const listed of [
      index([]),
      index(["1.0.0"]),
      index(["1.0.0"]),
      index(["1.0.0", "2.0.0"]),
      index([]),
      index(["1.0.0"], ["2.0.0"]),
      index(["1.0.0"], ["2.0.0"]),
    ])
      trust.admission.noteLeftOut({ provider }, listed);
    await trust.close();
    expect(trust.told()).toEqual([
      "left-out refused",
      "left-out refused",
      "left-out refused",
      "left-out reported",
    ]);
  });

  it("is written down of a provider as of a module, by its name", async () => {
    trust = await makeAdmission();
    const module = parseModuleAddress("acme/net/aws", "registry.terraform.io");
    trust.admission.noteLeftOut({ provider }, index(["1.0.0"]));
    trust.admission.noteLeftOut({ module }, index(["1.0.0"]));
    await trust.close();
    expect(trust.read("decisions")).toMatchObject([
      { provider: formatProviderAddress(provider) },
      { module: "registry.terraform.io/acme/net/aws" },
    ]);
  });
});

describe("what the policy would refuse", () => {
  const name = formatProviderAddress(provider);
  it.each([
    ["of a provider", name, { provider: name }],
    ["of a module", `${name}/aws`, { module: `${name}/aws` }],
  ])(
    "is served and written down where it only reports, %s",
    async (_of, subject, named) => {
      trust = await makeAdmission({ mode: "report" });
      trust.admission.rules.report?.(
        failure("policy-denied", subject, later, "policy.x", {
          because: undefined,
          contact: undefined,
        }),
      );
      await trust.close();
      expect(trust.read("requests")).toMatchObject([
        { ...named, event: "refused", verdict: "reported", rule: "policy.x" },
      ]);
    },
  );

  it("is refused where it is enforced", async () => {
    trust = await makeAdmission({ mode: "enforce" });
    const { admission } = trust;
    expect(admission.rules.report).toBeUndefined();
    admission.replaceRules({ ...admission.rules, mode: "report" });
    expect(admission.rules.report).toBeDefined();
  });
});

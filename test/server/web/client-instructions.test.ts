import { describe, expect, it } from "vitest";
import {
  formatMirrorUrl,
  formatStart,
  listSetUps,
  type MirrorForClients,
} from "../../../src/server/web/client-instructions.ts";

const url = "https://127.0.0.1:8443/";

it.each([
  ["127.0.0.1", "https://127.0.0.1:8443/"],
  ["::1", "https://[::1]:8443/"],
  ["0.0.0.0", "https://machine:8443/"],
])("the URL of a daemon on %s is %s", (host, expected) => {
  const listen = { host, port: 8443, secure: true };
  expect(formatMirrorUrl(listen, "machine")).toBe(expected);
});

const known = { url, hostnames: ["registry.terraform.io"], needsToken: false };
const textOf = (mirror: MirrorForClients, option: string) =>
  listSetUps(mirror).find((one) => one.option === option)?.text ?? "";

describe("the instructions", () => {
  it("begin with the host blocks, which the start prints with the CA", () => {
    const text = formatStart(
      { ...known, hostnames: ["registry.terraform.io", "a.example:8443"] },
      "/var/lib/provender/tls/v1/ca.pem",
    );
    expect(text).toBe(`# For ~/.terraformrc (Terraform) or ~/.tofurc (OpenTofu):
# Give clients a copy of /var/lib/provender/tls/v1/ca.pem and set SSL_CERT_FILE to its path
# (on macOS and Windows add it to the system's trusted roots instead).
host "registry.terraform.io" {
  services = {
    "providers.v1" = "https://127.0.0.1:8443/v1/providers/registry.terraform.io/"
    "modules.v1"   = "https://127.0.0.1:8443/v1/modules/registry.terraform.io/"
  }
}
host "a.example:8443" {
  services = {
    "providers.v1" = "https://127.0.0.1:8443/v1/providers/a.example:8443/"
    "modules.v1"   = "https://127.0.0.1:8443/v1/modules/a.example:8443/"
  }
}
# "provender client-config" prints this again, and what CI and the network mirror need.
`);
    expect(listSetUps(known)[0]?.option).toBe("hosts");
    expect(formatStart(known, undefined)).not.toMatch("SSL_CERT_FILE");
  });

  it("send the served hostnames to the network mirror and nowhere else", () => {
    const hostnames = ["registry.terraform.io", "a.example:8443", "b.example"];
    expect(textOf({ ...known, hostnames }, "network"))
      .toBe(`provider_installation {
  network_mirror {
    url     = "https://127.0.0.1:8443/providers/"
    include = ["registry.terraform.io/*/*", "b.example/*/*"]
  }
  direct {
    exclude = ["registry.terraform.io/*/*", "b.example/*/*"]
  }
}
`);
  });

  it("have a token for each hostname that clients ask, when they need one", () => {
    const hostnames = ["registry.terraform.io", "a.example:8443"];
    const guarded = { ...known, hostnames, needsToken: true };
    const asked = (option: string) =>
      textOf(guarded, option).match(/^credentials "[^"]+" \{$/gm);
    expect(asked("hosts")).toEqual([
      'credentials "127.0.0.1:8443" {',
      'credentials "registry.terraform.io" {',
      'credentials "a.example:8443" {',
    ]);
    expect(asked("network")).toEqual(['credentials "127.0.0.1:8443" {']);
  });

  it("never give an http URL, which clients refuse", () => {
    const plain = { ...known, url: "http://127.0.0.1:8443/" };
    for (const option of ["hosts", "network", "github"]) {
      const text = textOf(plain, option);
      expect(text).not.toMatch("http:");
      expect(text).toMatch("# mirror.example.com stands for the proxy");
    }
  });

  it("install nothing from a mirror that serves nothing: an empty list would mean all", () => {
    expect(textOf({ ...known, hostnames: [] }, "network").trim()).toBe("");
  });
});

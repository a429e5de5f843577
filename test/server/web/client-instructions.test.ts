import { describe, expect, it } from "vitest";
import {
  formatClientInstructions,
  formatMirrorUrl,
} from "../../../src/server/web/client-instructions.ts";

const url = "https://127.0.0.1:8443/";

describe("the mirror's URL", () => {
  it.each([
    ["127.0.0.1", "https://127.0.0.1:8443/"],
    ["::1", "https://[::1]:8443/"],
    ["mirror.example.com", "https://mirror.example.com:8443/"],
    ["0.0.0.0", "https://machine:8443/"],
    ["::", "https://machine:8443/"],
  ])("of a daemon on %s is %s", (host, expected) => {
    const listen = { host, port: 8443, secure: true };
    expect(formatMirrorUrl(listen, "machine")).toBe(expected);
  });
});

describe("the instructions", () => {
  it("send the served hostnames to the mirror and nowhere else", () => {
    const text = formatClientInstructions({
      url,
      caFile: "/var/lib/provender/tls/v1/ca.pem",
      hostnames: ["registry.terraform.io", "registry.opentofu.org"],
    });
    expect(text).toBe(`# For ~/.terraformrc (Terraform) or ~/.tofurc (OpenTofu):
# Give clients a copy of /var/lib/provender/tls/v1/ca.pem and set SSL_CERT_FILE to its path
# (on macOS and Windows add it to the system's trusted roots instead).
provider_installation {
  network_mirror {
    url     = "https://127.0.0.1:8443/providers/"
    include = ["registry.terraform.io/*/*", "registry.opentofu.org/*/*"]
  }
  direct {
    exclude = ["registry.terraform.io/*/*", "registry.opentofu.org/*/*"]
  }
}
`);
  });

  it("have a token for each hostname that clients ask, when they need one", () => {
    const text = formatClientInstructions({
      url,
      caFile: undefined,
      hostnames: ["registry.terraform.io", "a.example:8443"],
      needsToken: true,
    });
    expect(text.match(/^credentials "[^"]+" \{$/gm)).toEqual([
      'credentials "127.0.0.1:8443" {',
      'credentials "a.example:8443" {',
    ]);
  });

  it("do not speak of a CA that clients know already", () => {
    const text = formatClientInstructions({
      url,
      caFile: undefined,
      hostnames: ["registry.terraform.io"],
    });
    expect(text).not.toMatch("SSL_CERT_FILE");
  });

  it("never give an http URL, which clients refuse", () => {
    const text = formatClientInstructions({
      url: "http://127.0.0.1:8443/",
      caFile: undefined,
      hostnames: ["registry.terraform.io", "a.example:8443"],
    });
    expect(text).not.toMatch("http:");
    expect(text).toMatch("# mirror.example.com stands for the proxy");
  });

  it("install nothing from a mirror that serves nothing: an empty list would mean all", () => {
    const text = formatClientInstructions({
      url,
      caFile: undefined,
      hostnames: [],
    });
    expect(text).not.toMatch("network_mirror");
  });
});

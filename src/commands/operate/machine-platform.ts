import { parsePlatform, type Platform } from "../../address/platform.ts";

const systems: Readonly<Record<string, string>> = { win32: "windows" };
const architectures: Readonly<Record<string, string>> = {
  x64: "amd64",
  ia32: "386",
};

/** The platform of this machine, in Go's words; what clients take when none is named. */
export function machinePlatform({
  platform,
  arch,
}: Pick<NodeJS.Process, "platform" | "arch">): Platform {
  const os = systems[platform] ?? platform;
  return parsePlatform(`${os}_${architectures[arch] ?? arch}`);
}

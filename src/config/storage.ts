import { z } from "zod";
import { parseSize } from "../address/units.ts";
import { defaultStorageDirectory, type Surroundings } from "./environment.ts";
import {
  choice,
  leaf,
  optional,
  required,
  section,
  withDefault,
} from "./leaf.ts";
import { certificateFile, readCa, secretSchema } from "./origins.ts";
import {
  keyPrefix,
  serviceUrl,
  size,
  sizeOrUnlimited,
  text,
} from "./scalars.ts";

const bucketName = leaf("a bucket's name such as provender-eu", (name) =>
  required(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.exec(name)?.[0]),
);

export function storageSchema(path: z.ZodType<string>, from: Surroundings) {
  return section({
    directory: withDefault(path, defaultStorageDirectory(from)),
    maxSize: withDefault(sizeOrUnlimited, undefined),
    minFree: withDefault(size, parseSize("1GiB")),
    s3: optional(s3Schema(path, from.env)),
  });
}

export function s3Schema(path: z.ZodType<string>, env: Surroundings["env"]) {
  return z
    .strictObject({
      endpoint: serviceUrl,
      bucket: bucketName,
      region: withDefault(text, "us-east-1"),
      prefix: withDefault(keyPrefix, ""),
      addressing: withDefault(choice("path", "virtual-host"), "path"),
      ca: optional(certificateFile(path)),
      accessKeyId: optional(text),
      secretAccessKey: optional(secretSchema(path, env)),
    })
    .superRefine(({ accessKeyId, secretAccessKey }, context) => {
      if ((accessKeyId === undefined) === (secretAccessKey === undefined))
        return;
      const message =
        'is of no use alone: expected "accessKeyId" and "secretAccessKey", or neither, which takes the keys of the environment, a web identity or the instance';
      const [name] = accessKeyId ? ["accessKeyId"] : ["secretAccessKey"];
      context.addIssue({ code: "custom", path: [name], message });
    })
    .transform(readCa);
}

export const widget = "registry.terraform.io/acme/widget";

/** As both clients write it (depsfile, "SaveLocksToBytes"). */
export const canonical = `# This file is maintained automatically by "terraform init".
# Manual edits may be lost in future updates.

provider "registry.terraform.io/acme/widget" {
  version     = "1.2.3"
  constraints = "~> 1.2"
  hashes = [
    "h1:bbb=",
    "zh:ccc",
  ]
}
`;

export const wild = `// ours
/* two
   lines */
module "child" { # not for us
  list = [ { a = "}" }, "]" ]
  nested { x = 1 }
}
provider "${widget}" { # why
  # pinned by security
  version = "1.2.3" // until June
  hashes  = [ # all
    # macOS
    "h1:bbb=", # mine
    /* the rest */ "zh:ccc" # last
    # end
  ]
}

provider "registry.opentofu.org/acme/other" {
  version = "2.0.0-beta.1+build"
  hashes = ["zh:bbb"]
}`;

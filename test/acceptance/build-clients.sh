#!/usr/bin/env bash
# Builds further clients, and what tests use beside them, from their sources, as the Go module proxy has them, into the folder
# $PROVENDER_CLIENTS. Arguments: their names, all by default. Keeps those that are there. Status 1 when one could not be built.
set -euo pipefail
clients="${PROVENDER_CLIENTS:?names the folder to build into}"
mkdir -p "$clients"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
export GOFLAGS="${GOFLAGS:-} -trimpath" CGO_ENABLED=0

# Their modules replace some of their dependencies, so they are built in their own folders, which go install would refuse.
build() {
  local name="$1" module="$2" package="$3" setting="$4"
  mkdir "$scratch/$name"
  (cd "$scratch/$name" && go mod init scratch && go mod download "$module") || return 1
  cp -r "$(go env GOMODCACHE)/$module" "$scratch/$name/source"
  chmod -R u+w "$scratch/$name/source"
  (cd "$scratch/$name/source" && leave_out_absent)
  env ${setting:+"$setting"} go -C "$scratch/$name/source" build -ldflags "$released" -o "$scratch/$name/built" "$package" &&
    mv "$scratch/$name/built" "$clients/$name"
}

# Leaves out nested modules, which the proxy's copy lacks. In Terraform they are backends, which no test uses.
leave_out_absent() {
  local module folder alias
  while read -r module folder; do
    [[ ! -d "$folder" ]] || continue
    go mod edit -dropreplace="$module" -droprequire="$module"
    alias="$(grep -rhoP "\\w+(?= \"$module\")" --include=init.go internal || true)"
    [[ -z "$alias" ]] || sed -i "/\b$alias\b/d" internal/backend/init/init.go
  done < <(sed -nE 's|^replace (\S+) => (\./.*)$|\1 \2|p' go.mod)
}

released="-s -w -X github.com/hashicorp/terraform/version.dev=no -X github.com/opentofu/opentofu/version.dev=no"

# As their registries have them, without what they would run while they are installed.
install_renovate() {
  npm install --silent --ignore-scripts --no-audit --no-fund --prefix "$scratch/renovate" renovate@44.121.2 &&
    mv "$scratch/renovate" "$clients/renovate"
}

install_checkov() {
  python3 -m venv --clear "$clients/checkov" && "$clients/checkov/bin/pip" install --quiet checkov==3.3.30 || {
    rm -rf "$clients/checkov"
    return 1
  }
}

status=0
while read -r name module package setting; do
  if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
  [[ -x "$clients/$name" ]] || build "$name" "$module" "$package" "$setting" || {
    echo "$name could not be built." >&2
    status=1
  }
done <<'END'
oras oras.land/oras@v1.3.1 ./cmd/oras
tofu-1.12.6 github.com/opentofu/opentofu@v1.12.6 ./cmd/tofu
tofu-1.10.10 github.com/opentofu/opentofu@v1.10.10 ./cmd/tofu
terraform-1.16.4 github.com/hashicorp/terraform@v1.16.4 .
terraform-1.15.9 github.com/hashicorp/terraform@v1.15.9 .
terraform-1.14.9 github.com/hashicorp/terraform@v1.14.9 .
terraform-1.13.3 github.com/hashicorp/terraform@v1.13.3 .
terraform-1.5.7 github.com/hashicorp/terraform@v1.5.7 .
tfupdate-0.10.2 github.com/minamijoyo/tfupdate@v0.10.2 .
terragrunt github.com/gruntwork-io/terragrunt@v1.0.0 .
END
while read -r name program; do
  if (($# > 0)) && [[ " $* " != *" $name "* ]]; then continue; fi
  # An installation that was ended before has no program.
  [[ -e "$clients/$name/$program" ]] || "install_$name" || {
    echo "$name could not be installed." >&2
    status=1
  }
done <<'END'
renovate node_modules/.bin/renovate
checkov bin/checkov
END
exit "$status"

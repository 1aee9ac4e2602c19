# What the test programs printed into "$scratch/vitest" and "$scratch/cargo", in short. ./dev reads it in.
# shellcheck shell=bash disable=SC2154

# What each failed test said: by now it stands thousands of lines above.
repeat_failures() {
  sed -n '/ Failed Tests /,$p' "$scratch/vitest" | head -n 200 || true
  sed -n '/^failures:$/,/^test result: FAILED/p' "$scratch/cargo" | cut -c 1-2000 | head -n 400 || true
}

vitest_sum() {
  local line
  line=$(grep -E '^ +Tests ' "$1" | tail -n 1 || true)
  printf '%d passed, %d failed' "$(count passed "$line")" "$(count failed "$line")"
}

count() { grep -oE "[0-9]+ $1" <<<"$2" | cut -d' ' -f1 || printf 0; }

# Adds up what every test binary said.
cargo_sum() {
  sed -nE 's/^test result: [a-zA-Z]+\. ([0-9]+) passed; ([0-9]+) failed.*/\1 \2/p' "$scratch/cargo" |
    awk -v format="$1" '{ passed += $1; failed += $2 } END { printf format, passed, failed }'
}

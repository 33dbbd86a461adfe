#!/bin/bash
# Performs all steps that need the GPU: run.sh DATA_FOLDER BASE_FOLDER OUT_FOLDER [teacher] [second-teacher] [embedding] [student]
#
# OUT_FOLDER gets log.txt and back.tar in parts of 15 MiB (cat back.tar.* | tar x), with the exported models. WORK_FOLDER
# (/tmp/carrel-training) keeps the weights for the next run. See train.py for the time limits of the stages.
set -o pipefail
data=$(realpath "$1") base=$(realpath "$2") out=$(realpath "$3")
shift 3
cd "$(dirname "$0")"
work=${WORK_FOLDER:-/tmp/carrel-training}
mkdir -p "$work/back"
rm -rf "$work/back/"*
export PYTHONUNBUFFERED=1 PYTORCH_ALLOC_CONF=expandable_segments:True
python3 -W ignore train.py "$data" "$base" "$work" "$@" 2>&1 | tee -a "$out/log.txt" || exit 1
for stage in "$@"; do
  [[ "$stage" = *teacher ]] && continue
  mkdir "$work/back/$stage"
  [ "$stage" = embedding ] && kind=vectors || kind=logits
  python3 export.py "$work/$stage.pt" "$work/back/$stage/model.onnx" $kind "$data" "$base" 2>&1 | grep -v WARNING | tee -a "$out/log.txt"
done
tar -C "$work/back" -cf - . | split -b 15M -d - "$out/back.tar."

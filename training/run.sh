#!/bin/bash
# Everything that needs the GPU, in about 22 minutes: run.sh DATA_FOLDER GTE_FOLDER OUT_FOLDER
set -o pipefail
cd "$(dirname "$0")"
export PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True PYTORCH_ALLOC_CONF=expandable_segments:True
python3 train.py "$1" "$2" "$3" 2>&1 | tee "$3/log.txt" || exit 1
cat "$3"/student.pt.? > /tmp/student.pt
{
  python3 export.py /tmp/student.pt "$3/reduced.onnx" --reduce-range
  python3 export.py /tmp/student.pt /tmp/fp32.onnx --fp32
  for model in "$3/reduced.onnx" /tmp/fp32.onnx; do
    echo "$model"
    python3 measure.py "$model" "$2" "$1" "$3/$(basename "$model" .onnx)-logits.json.xz"
  done
} 2>&1 | grep -v WARNING | tee -a "$3/log.txt"
echo finished >> "$3/log.txt"

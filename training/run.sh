#!/bin/bash
# Everything that needs the GPU, in one go of under ten minutes: run.sh DATA_FOLDER GTE_FOLDER OUT_FOLDER
set -o pipefail
cd "$(dirname "$0")"
export PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True PYTORCH_ALLOC_CONF=expandable_segments:True
python3 train.py "$1" "$2" "$3" 2>&1 | tee "$3/log.txt" || exit 1
cat "$3"/student.pt.? > /tmp/student-whole.pt
{
  python3 export.py /tmp/student-whole.pt /tmp/full.onnx
  python3 export.py /tmp/student-whole.pt /tmp/reduced.onnx --reduce-range
  for model in reduced full; do
    echo "int8 $model"
    timeout 45 python3 measure.py "/tmp/$model.onnx" "$2" "$1/judged.xz" "$3/candidates.json.xz" "/tmp/$model.json.xz"
  done
  echo "test, reduced"
  timeout 60 python3 measure.py /tmp/reduced.onnx "$2" "$1/judged.xz" "$3/candidates.json.xz" /tmp/test.json.xz --splits test
} 2>&1 | grep -v WARNING | tee -a "$3/log.txt"
cd /tmp && tar cf "$3/logits.tar" -C "$3" logits.json.xz report.json $(cd /tmp; ls reduced.json.xz full.json.xz test.json.xz 2>/dev/null | sed 's|^|-C /tmp |')
rm -f "$3/logits.json.xz" "$3/report.json"

#!/bin/bash
# Everything that needs the GPU: run.sh DATA_FOLDER GTE_FOLDER OUT_FOLDER [teacher] [student]
#
# What comes to OUT_FOLDER: log.txt, report.json and back.tar in parts of 15 MiB (cat back.tar.* | tar x). After the teacher's stage
# back.tar has the teacher in 8 bits and the exported student, after the student's alone the student in fp16: 64 MB is what may
# come back. WORK_FOLDER (/tmp/carrel-training) keeps everything for the next run; on a new machine TEACHER=teacher.small.pt and
# STUDENT=student.pt bring back what an earlier run made. See train.py for TEACHER_S, STUDENT_S, LIMIT_S and CONTINUE.
set -o pipefail
data=$(realpath "$1") gte=$(realpath "$2") out=$(realpath "$3")
shift 3
stages=${*:-teacher student}
[ -z "$CONTINUE" ] || CONTINUE=$(realpath "$CONTINUE")
[ -z "$TEACHER" ] || TEACHER=$(realpath "$TEACHER")
[ -z "$STUDENT" ] || STUDENT=$(realpath "$STUDENT")
cd "$(dirname "$0")"
work=${WORK_FOLDER:-/tmp/carrel-training}
mkdir -p "$work"
export PYTHONUNBUFFERED=1 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True PYTORCH_ALLOC_CONF=expandable_segments:True
[ -z "$TEACHER" ] || [ -e "$work/teacher.pt" ] || python3 shrink.py whole "$TEACHER" "$work/teacher.pt" || exit 1
[ -z "$STUDENT" ] || [ -e "$work/student.pt" ] || cp "$STUDENT" "$work/student.pt" || exit 1
python3 train.py "$data" "$gte" "$work" $stages 2>&1 | tee "$out/log.txt" || exit 1
cp "$work/report.json" "$out/"
back="student.pt student-logits.json.xz"
if [[ $stages == *teacher* ]]; then
  python3 shrink.py small "$work/teacher.pt" "$work/teacher.small.pt"
  back="teacher.small.pt teacher-logits.json.xz"
fi
if [[ $stages == *student* ]]; then
  python3 export.py "$work/student.pt" "$work/student.onnx" --reduce-range --level "$gte" "$data" 2>&1 | grep -v WARNING | tee -a "$out/log.txt"
  [[ $stages == *teacher* ]] && back="$back student.onnx student-logits.json.xz"
fi
tar -C "$work" -cf - $back | split -b 15M -d - "$out/back.tar."
if [[ $stages == *student* ]]; then
  python3 measure.py "$work/student.onnx" "$gte" "$data" "$work/int8-logits.json.xz" 2>&1 | tee -a "$out/log.txt"
fi
echo finished | tee -a "$out/log.txt"

;; Scores rows of one segment against a query and returns those above a threshold.
;;
;; Rows are signed bytes; the query has the same codes in 16 bits. $stride, the bytes per row, is a multiple of 16.
;; Only rows with a bit in $mask are scored, so rows that a filter excludes cost nothing. The scan reads the mask words from
;; $word up to, but not including, $word_end. A word covers 32 rows; the first bit of the first word is row $first_row.
;; Writes row numbers to $rows_out and their scores to $scores_out. Returns how many.
(module
  (import "segment" "memory" (memory 1 65536 shared))
  (func (export "scan")
    (param $mask i32) (param $word i32) (param $word_end i32) (param $first_row i32)
    (param $codes i32) (param $stride i32) (param $scales i32) (param $query i32)
    (param $threshold f32) (param $rows_out i32) (param $scores_out i32)
    (result i32)
    (local $bits i32) (local $row i32) (local $at i32) (local $with i32) (local $end i32) (local $kept i32)
    (local $sum v128) (local $score f32)
    (block $done
      (loop $next_word
        (br_if $done (i32.ge_u (local.get $word) (local.get $word_end)))
        (local.set $bits (i32.load (i32.add (local.get $mask) (i32.shl (local.get $word) (i32.const 2)))))
        (block $word_done
          (loop $next_row
            (br_if $word_done (i32.eqz (local.get $bits)))
            (local.set $row (i32.add (local.get $first_row) (i32.ctz (local.get $bits))))
            (local.set $bits (i32.and (local.get $bits) (i32.sub (local.get $bits) (i32.const 1))))

            (local.set $at (i32.add (local.get $codes) (i32.mul (local.get $row) (local.get $stride))))
            (local.set $end (i32.add (local.get $at) (local.get $stride)))
            (local.set $with (local.get $query))
            (local.set $sum (v128.const i32x4 0 0 0 0))
            (loop $columns
              (local.set $sum (i32x4.add (local.get $sum) (i32x4.add
                (i32x4.dot_i16x8_s (v128.load8x8_s (local.get $at)) (v128.load (local.get $with)))
                (i32x4.dot_i16x8_s (v128.load8x8_s offset=8 (local.get $at)) (v128.load offset=16 (local.get $with))))))
              (local.set $with (i32.add (local.get $with) (i32.const 32)))
              (local.set $at (i32.add (local.get $at) (i32.const 16)))
              (br_if $columns (i32.lt_u (local.get $at) (local.get $end))))

            (local.set $score (f32.mul
              (f32.convert_i32_s (i32.add
                (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
                (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
              (f32.load (i32.add (local.get $scales) (i32.shl (local.get $row) (i32.const 2))))))
            (if (f32.gt (local.get $score) (local.get $threshold))
              (then
                (i32.store (i32.add (local.get $rows_out) (i32.shl (local.get $kept) (i32.const 2))) (local.get $row))
                (f32.store (i32.add (local.get $scores_out) (i32.shl (local.get $kept) (i32.const 2))) (local.get $score))
                (local.set $kept (i32.add (local.get $kept) (i32.const 1)))))
            (br $next_row)))
        (local.set $first_row (i32.add (local.get $first_row) (i32.const 32)))
        (local.set $word (i32.add (local.get $word) (i32.const 1)))
        (br $next_word)))
    (local.get $kept)))

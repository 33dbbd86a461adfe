;; Scores the rows of one segment against a query and keeps those above a threshold.
;;
;; Rows are signed bytes; the query is the same in 16 bits, so that eight products and half their sum are one instruction.
;; A row is scored when its bit in $mask is set; the filter therefore costs nothing for the rows that it leaves out.
;; $stride is a multiple of 32. Rows and scores of what was kept lie at $rows_out and $scores_out; their number is the
;; result. The words $word to $word_end of the mask are looked at, 32 rows each.
(module
  (import "segment" "memory" (memory 1 65536 shared))
  (func (export "scan")
    (param $mask i32) (param $word i32) (param $word_end i32)
    (param $codes i32) (param $stride i32) (param $scales i32) (param $query i32)
    (param $threshold f32) (param $rows_out i32) (param $scores_out i32)
    (result i32)
    (local $bits i32) (local $row i32) (local $at i32) (local $at_end i32) (local $query_at i32) (local $kept i32)
    (local $score f32) (local $sum v128)

    block $done
      loop $next_word
        local.get $word
        local.get $word_end
        i32.ge_u
        br_if $done

        local.get $mask
        local.get $word
        i32.const 2
        i32.shl
        i32.add
        i32.load
        local.set $bits

        block $word_done
          loop $next_row
            local.get $bits
            i32.eqz
            br_if $word_done

            ;; row = 32 * word + number of the lowest set bit; then clear that bit
            local.get $word
            i32.const 5
            i32.shl
            local.get $bits
            i32.ctz
            i32.add
            local.set $row
            local.get $bits
            local.get $bits
            i32.const 1
            i32.sub
            i32.and
            local.set $bits

            local.get $codes
            local.get $row
            local.get $stride
            i32.mul
            i32.add
            local.tee $at
            local.get $stride
            i32.add
            local.set $at_end
            local.get $query
            local.set $query_at
            v128.const i32x4 0 0 0 0
            local.set $sum

            loop $columns
              local.get $sum
              local.get $at
              v128.load8x8_s
              local.get $query_at
              v128.load
              i32x4.dot_i16x8_s
              i32x4.add
              local.get $at
              v128.load8x8_s offset=8
              local.get $query_at
              v128.load offset=16
              i32x4.dot_i16x8_s
              i32x4.add
              local.get $at
              v128.load8x8_s offset=16
              local.get $query_at
              v128.load offset=32
              i32x4.dot_i16x8_s
              i32x4.add
              local.get $at
              v128.load8x8_s offset=24
              local.get $query_at
              v128.load offset=48
              i32x4.dot_i16x8_s
              i32x4.add
              local.set $sum

              local.get $query_at
              i32.const 64
              i32.add
              local.set $query_at
              local.get $at
              i32.const 32
              i32.add
              local.tee $at
              local.get $at_end
              i32.lt_u
              br_if $columns
            end

            local.get $sum
            i32x4.extract_lane 0
            local.get $sum
            i32x4.extract_lane 1
            i32.add
            local.get $sum
            i32x4.extract_lane 2
            i32.add
            local.get $sum
            i32x4.extract_lane 3
            i32.add
            f32.convert_i32_s
            local.get $scales
            local.get $row
            i32.const 2
            i32.shl
            i32.add
            f32.load
            f32.mul
            local.tee $score
            local.get $threshold
            f32.gt
            if $keep
              local.get $rows_out
              local.get $kept
              i32.const 2
              i32.shl
              i32.add
              local.get $row
              i32.store
              local.get $scores_out
              local.get $kept
              i32.const 2
              i32.shl
              i32.add
              local.get $score
              f32.store
              local.get $kept
              i32.const 1
              i32.add
              local.set $kept
            end
            br $next_row
          end
        end

        local.get $word
        i32.const 1
        i32.add
        local.set $word
        br $next_word
      end
    end
    local.get $kept
  )
)

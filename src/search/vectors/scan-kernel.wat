;; Scores the rows of one segment against a query and keeps those above a threshold.
;;
;; Rows are signed bytes, the query is bytes from 1 to 127, 64 more than its codes: sixteen products and their sum are then
;; one instruction. What the 64 add to a row's sum is taken away before: $biases holds -64 times the sum of its codes.
;; A row is scored when its bit in $mask is set; the filter therefore costs nothing for the rows that it leaves out. Four
;; rows are scored at a time, so that the query is read a quarter as often and no sum waits for its predecessor.
;; $stride is a multiple of 16. Rows and scores of what was kept lie at $rows_out and $scores_out; their number is the
;; result. The words $word to $word_end of the mask are looked at, 32 rows each, of which the first is $first_row. There
;; are 32 bytes of scratch at $four.
(module
  (import "segment" "memory" (memory 1 65536 shared))
  (func (export "scan")
    (param $mask i32) (param $word i32) (param $word_end i32) (param $first_row i32)
    (param $codes i32) (param $stride i32) (param $scales i32) (param $biases i32) (param $query i32)
    (param $threshold f32) (param $rows_out i32) (param $scores_out i32) (param $four i32)
    (result i32)
    (local $bits i32) (local $lanes i32) (local $column i32) (local $kept i32)
    (local $row0 i32) (local $row1 i32) (local $row2 i32) (local $row3 i32)
    (local $at0 i32) (local $at1 i32) (local $at2 i32) (local $at3 i32)
    (local $sum0 v128) (local $sum1 v128) (local $sum2 v128) (local $sum3 v128)
    (local $part v128) (local $scores v128) (local $left v128) (local $right v128) (local $added v128)

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
          loop $next_four
            local.get $bits
            i32.eqz
            br_if $word_done

            ;; The lowest four set bits. Where there are fewer, ctz of 0 is 32 and the row before is taken once more; $lanes
            ;; has a bit for each that counts.
            local.get $first_row
            local.get $bits
            i32.ctz
            i32.add
            local.set $row0
            i32.const 1
            local.set $lanes
            local.get $row0
            local.set $row1
            local.get $row0
            local.set $row2
            local.get $row0
            local.set $row3
            local.get $bits
            local.get $bits
            i32.const 1
            i32.sub
            i32.and
            local.tee $bits
            if $second
              local.get $first_row
              local.get $bits
              i32.ctz
              i32.add
              local.set $row1
              i32.const 3
              local.set $lanes
              local.get $bits
              local.get $bits
              i32.const 1
              i32.sub
              i32.and
              local.tee $bits
              if $third
                local.get $first_row
                local.get $bits
                i32.ctz
                i32.add
                local.set $row2
                i32.const 7
                local.set $lanes
                local.get $bits
                local.get $bits
                i32.const 1
                i32.sub
                i32.and
                local.tee $bits
                if $fourth
                  local.get $first_row
                  local.get $bits
                  i32.ctz
                  i32.add
                  local.set $row3
                  i32.const 15
                  local.set $lanes
                  local.get $bits
                  local.get $bits
                  i32.const 1
                  i32.sub
                  i32.and
                  local.set $bits
                end
              end
            end

            local.get $codes
            local.get $row0
            local.get $stride
            i32.mul
            i32.add
            local.set $at0
            local.get $codes
            local.get $row1
            local.get $stride
            i32.mul
            i32.add
            local.set $at1
            local.get $codes
            local.get $row2
            local.get $stride
            i32.mul
            i32.add
            local.set $at2
            local.get $codes
            local.get $row3
            local.get $stride
            i32.mul
            i32.add
            local.set $at3

            local.get $biases
            local.get $row0
            i32.const 2
            i32.shl
            i32.add
            v128.load32_zero
            local.set $sum0
            local.get $biases
            local.get $row1
            i32.const 2
            i32.shl
            i32.add
            v128.load32_zero
            local.set $sum1
            local.get $biases
            local.get $row2
            i32.const 2
            i32.shl
            i32.add
            v128.load32_zero
            local.set $sum2
            local.get $biases
            local.get $row3
            i32.const 2
            i32.shl
            i32.add
            v128.load32_zero
            local.set $sum3

            i32.const 0
            local.set $column
            loop $columns
              local.get $query
              local.get $column
              i32.add
              v128.load
              local.set $part
              local.get $at0
              local.get $column
              i32.add
              v128.load
              local.get $part
              local.get $sum0
              i32x4.relaxed_dot_i8x16_i7x16_add_s
              local.set $sum0
              local.get $at1
              local.get $column
              i32.add
              v128.load
              local.get $part
              local.get $sum1
              i32x4.relaxed_dot_i8x16_i7x16_add_s
              local.set $sum1
              local.get $at2
              local.get $column
              i32.add
              v128.load
              local.get $part
              local.get $sum2
              i32x4.relaxed_dot_i8x16_i7x16_add_s
              local.set $sum2
              local.get $at3
              local.get $column
              i32.add
              v128.load
              local.get $part
              local.get $sum3
              i32x4.relaxed_dot_i8x16_i7x16_add_s
              local.set $sum3
              local.get $column
              i32.const 16
              i32.add
              local.tee $column
              local.get $stride
              i32.lt_u
              br_if $columns
            end

            ;; The four parts of each sum become one lane each.
            local.get $sum0
            local.get $sum1
            i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
            local.get $sum0
            local.get $sum1
            i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
            i32x4.add
            local.set $sum0
            local.get $sum2
            local.get $sum3
            i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23
            local.get $sum2
            local.get $sum3
            i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31
            i32x4.add
            local.set $sum2
            local.get $sum0
            local.get $sum2
            i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23
            local.get $sum0
            local.get $sum2
            i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31
            i32x4.add
            f32x4.convert_i32x4_s

            local.get $scales
            local.get $row3
            i32.const 2
            i32.shl
            i32.add
            local.get $scales
            local.get $row2
            i32.const 2
            i32.shl
            i32.add
            local.get $scales
            local.get $row1
            i32.const 2
            i32.shl
            i32.add
            local.get $scales
            local.get $row0
            i32.const 2
            i32.shl
            i32.add
            v128.load32_zero
            v128.load32_lane 1
            v128.load32_lane 2
            v128.load32_lane 3
            f32x4.mul
            local.tee $scores
            local.get $threshold
            f32x4.splat
            f32x4.gt
            i32x4.bitmask
            local.get $lanes
            i32.and
            local.tee $lanes
            if $any
              local.get $four
              local.get $row0
              i32.store
              local.get $four
              local.get $row1
              i32.store offset=4
              local.get $four
              local.get $row2
              i32.store offset=8
              local.get $four
              local.get $row3
              i32.store offset=12
              local.get $four
              local.get $scores
              v128.store offset=16
              loop $keep
                local.get $rows_out
                local.get $kept
                i32.const 2
                i32.shl
                i32.add
                local.get $four
                local.get $lanes
                i32.ctz
                i32.const 2
                i32.shl
                i32.add
                i32.load
                i32.store
                local.get $scores_out
                local.get $kept
                i32.const 2
                i32.shl
                i32.add
                local.get $four
                local.get $lanes
                i32.ctz
                i32.const 2
                i32.shl
                i32.add
                f32.load offset=16
                f32.store
                local.get $kept
                i32.const 1
                i32.add
                local.set $kept
                local.get $lanes
                local.get $lanes
                i32.const 1
                i32.sub
                i32.and
                local.tee $lanes
                br_if $keep
              end
            end
            br $next_four
          end
        end

        local.get $first_row
        i32.const 32
        i32.add
        local.set $first_row
        local.get $word
        i32.const 1
        i32.add
        local.set $word
        br $next_word
      end
    end
    local.get $kept
  )

  ;; Writes the biases of the rows $row to $row_end. $query is bytes of 64.
  (func (export "weigh")
    (param $row i32) (param $row_end i32) (param $codes i32) (param $stride i32) (param $biases i32) (param $query i32)
    (local $at i32) (local $column i32) (local $sum v128) (local $left v128) (local $right v128) (local $added v128)
    block $done
      loop $next_row
        local.get $row
        local.get $row_end
        i32.ge_u
        br_if $done
        local.get $codes
        local.get $row
        local.get $stride
        i32.mul
        i32.add
        local.set $at
        v128.const i32x4 0 0 0 0
        local.set $sum
        i32.const 0
        local.set $column
        loop $columns
          local.get $at
          local.get $column
          i32.add
          v128.load
          local.get $query
          v128.load
          local.get $sum
          i32x4.relaxed_dot_i8x16_i7x16_add_s
          local.set $sum
          local.get $column
          i32.const 16
          i32.add
          local.tee $column
          local.get $stride
          i32.lt_u
          br_if $columns
        end
        local.get $biases
        local.get $row
        i32.const 2
        i32.shl
        i32.add
        i32.const 0
        local.get $sum
        i32x4.extract_lane 0
        i32.sub
        local.get $sum
        i32x4.extract_lane 1
        i32.sub
        local.get $sum
        i32x4.extract_lane 2
        i32.sub
        local.get $sum
        i32x4.extract_lane 3
        i32.sub
        i32.store
        local.get $row
        i32.const 1
        i32.add
        local.set $row
        br $next_row
      end
    end
  )
)

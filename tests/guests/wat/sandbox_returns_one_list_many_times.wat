;; A thousand answers that share one list of a thousand events: 1 MiB of guest memory that would be a million events.
(export "cabi_realloc" (func $realloc))
(func (export "jackfield:connector/transform@0.1.0#transform") (param i32 i32) (result i32)
  (local $at i32)
  (call $reach (i32.const 8388608))
  (local.set $at (i32.const 4194304))
  (loop $next
    (i32.store offset=4 (local.get $at) (i32.const 1048576))
    (i32.store offset=8 (local.get $at) (i32.const 1000))
    (local.set $at (i32.add (local.get $at) (i32.const 12)))
    (br_if $next (i32.lt_u (local.get $at) (i32.const 4206304))))
  (call $answers (i32.const 4194304) (i32.const 1000)))

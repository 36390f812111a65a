;; One answer whose reason is 48 MiB of zeros: in its own memory, and far over what a host call may copy.
(export "cabi_realloc" (func $realloc))
(func (export "jackfield:connector/transform@0.1.0#transform") (param i32 i32) (result i32)
  (call $reach (i32.const 52428800))
  (call $ignored (i32.const 1048576) (i32.const 50331648)))
